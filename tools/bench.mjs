// `npm run bench [-- ARGS]`: builds what changed, then runs bench/main.ts (as bench/dist/main.js) as a production
// program of its own, with the garbage collector within reach.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { buildAll, targets } from './build.mjs'

if (!(await buildAll({ only: targets.filter((target) => !target.name.startsWith('demo')) }))) process.exit(1)
const main = fileURLToPath(new URL('../bench/dist/main.js', import.meta.url))
const { status } = spawnSync(process.execPath, ['--expose-gc', main, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, NODE_ENV: 'production' },
})
process.exitCode = status ?? 1
