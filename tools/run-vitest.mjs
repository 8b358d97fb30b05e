// Runs Vitest once over some projects and says how many tests passed.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))

/**
 * @param {readonly string[]} projects
 * @param {{ args?: readonly string[], quiet?: boolean }} [options] `quiet`: keep the output, return it
 * @returns {import('./count-reporter.mjs').Count & { ok: boolean, output: string }}
 */
export function runVitest(projects, { args = [], quiet = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  const file = join(folder, 'count.json')
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      ...projects.flatMap((name) => ['--project', name]),
      '--reporter=default',
      '--reporter=./tools/count-reporter.mjs',
      ...args,
    ],
    {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 2 ** 20,
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
      env: { ...process.env, MILLRACE_COUNT_FILE: file, ...(quiet ? { NO_COLOR: '1' } : {}) },
    },
  )
  /** @type {import('./count-reporter.mjs').Count} */
  let count = { passed: 0, failed: 0, skipped: 0 }
  try {
    count = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    // Vitest itself did not get as far as a report.
  }
  rmSync(folder, { recursive: true, force: true })
  // Whatever made Vitest fail is a failure in the count, too.
  if (status !== 0 && count.failed === 0) count.failed = 1
  return { ...count, ok: status === 0 && count.failed === 0, output: `${stdout ?? ''}${stderr ?? ''}` }
}
