// `npm start`: builds what changed, then runs the demo's server in this process.
import { buildAll, targets } from './build.mjs'

if (!(await buildAll({ only: targets.filter((target) => target.name !== 'bench') }))) process.exit(1)
await import(new URL('../apps/demo/dist/server.js', import.meta.url).href)
