// `npm run bench [-- NAME… OPTIONS]`: builds what changed, then runs bench/main.ts (as bench/dist/main.js) as a production
// program. What is built is told on stderr: stdout is the report.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { buildAll, targets } from './build.mjs'

const only = targets.filter((target) => !target.name.startsWith('demo'))
if (!(await buildAll({ only, log: (line) => console.error(line) }))) process.exit(1)
const program = fileURLToPath(new URL('../bench/dist/main.js', import.meta.url))
const { status } = spawnSync(process.execPath, [program, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, NODE_ENV: 'production' },
})
process.exitCode = status ?? 1
