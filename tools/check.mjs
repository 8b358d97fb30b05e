// `npm run check`: everything that can be said without a browser or a service. One line for each step; the output of
// a step is shown only when it fails. `npm run check -- NAME…` runs only those steps.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildAll, packageTargets } from './build.mjs'
import { longFiles } from './check-length.mjs'
import { runVitest } from './run-vitest.mjs'

/** @typedef {{ ok: boolean, output?: string, note?: string }} Outcome */

const root = fileURLToPath(new URL('../', import.meta.url))

/** @param {string[]} args @returns {Outcome} */
function node(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    env: { ...process.env, NO_COLOR: '1' },
  })
  return { ok: status === 0, output: stdout + stderr }
}
/** @param {string} path */
const bin = (path) => join(root, 'node_modules', path)

/** @type {Record<string, () => Outcome | Promise<Outcome>>} */
const steps = {
  types: () => node(bin('typescript/bin/tsc'), '-b', '--pretty', 'false'),
  components: () => node('tools/check-components.mjs'),
  lint: () => node(bin('oxlint/bin/oxlint'), '--deny-warnings'),
  arrows: () => node('tools/check-arrows.mjs'),
  tests: () => {
    const { ok, output, passed, failed, skipped } = runVitest(['node', 'dom'], { quiet: true })
    return { ok, output, note: `${passed} passed, ${failed} failed, ${skipped} skipped` }
  },
  exports: async () => {
    /** @type {string[]} */
    const lines = []
    if (!(await buildAll({ only: packageTargets, log: (line) => lines.push(line) }))) {
      return { ok: false, output: lines.join('\n') }
    }
    return node('tools/check-exports.mjs')
  },
}

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !(name in steps))
if (unknown.length > 0) {
  console.error(`check: no such step: ${unknown.join(', ')} (there are ${Object.keys(steps).join(', ')})`)
  process.exit(2)
}

/** @type {string[]} */
const failures = []
for (const [name, step] of Object.entries(steps)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  const start = performance.now()
  const { ok, output = '', note } = await step()
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name.padEnd(10)} ${seconds.padStart(5)} s${note ? `  ${note}` : ''}`)
  if (ok) continue
  failures.push(name)
  console.log(output.trim().replace(/^/gm, '  '))
}

for (const line of longFiles()) console.log(`long ${line}`)
console.log(failures.length > 0 ? `check failed: ${failures.join(', ')}` : 'check passed')
process.exitCode = failures.length > 0 ? 1 : 0
