// Runs the real program as a child process, built from the sources as they are.
import { spawn } from 'node:child_process'
import { mkdir, rmdir, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { buildAll, packageTargets } from '../../../tools/build.mjs'

export const bin: string = fileURLToPath(new URL('../bin/millrace.js', import.meta.url))
export const root: string = fileURLToPath(new URL('../../../', import.meta.url))

const lock = fileURLToPath(new URL('../../../node_modules/.cache/millrace-cli-test', import.meta.url))

/** Builds what changed; one test file at a time, since they run side by side. */
export async function built(): Promise<void> {
  await mkdir(fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url)), { recursive: true })
  for (;;) {
    try {
      await mkdir(lock)
      break
    } catch {
      const age = Date.now() - (await stat(lock).then(({ mtimeMs }) => mtimeMs, () => 0))
      if (age > 120_000) await rmdir(lock).catch(() => undefined)
      else await sleep(100)
    }
  }
  try {
    const lines: string[] = []
    if (!(await buildAll({ only: packageTargets, log: (line: string) => void lines.push(line) }))) {
      throw new Error(lines.join('\n'))
    }
  } finally {
    await rmdir(lock)
  }
}

export interface Result {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

export interface RunOptions {
  readonly input?: string | Uint8Array
  readonly env?: Record<string, string>
}

/** Runs `millrace ARGS` from the root of the repository to its end. */
export function millrace(args: readonly string[], { input, env }: RunOptions = {}): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...args], { cwd: root, env: environment(env) })
    let out = ''
    let err = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
    child.stdin.on('error', () => undefined) // it may end before it has read all
    child.stdin.end(input ?? '')
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, out, err }))
  })
}

/** Ours without what would change the output. */
export function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { FORCE_COLOR: _force, NO_COLOR: _no, DEBUG: _debug, ...env } = process.env
  return { ...env, ...more }
}
