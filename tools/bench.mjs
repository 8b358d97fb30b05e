// `npm run bench [-- PART] [ARGS]`: builds what changed, then runs bench/main.ts (as bench/dist/main.js), or bench/PART.ts, as
// a production program of its own, with the garbage collector within reach.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { buildAll, targets } from './build.mjs'

if (!(await buildAll({ only: targets.filter((target) => !target.name.startsWith('demo')) }))) process.exit(1)
const parts = ['compaction', 'json-patch', 'partial-json']
const args = process.argv.slice(2)
const part = parts.includes(args[0] ?? '') ? args.shift() : 'main'
const program = fileURLToPath(new URL(`../bench/dist/${part}.js`, import.meta.url))
const { status } = spawnSync(process.execPath, ['--expose-gc', program, ...args], {
  stdio: 'inherit',
  env: { ...process.env, NODE_ENV: 'production' },
})
process.exitCode = status ?? 1
