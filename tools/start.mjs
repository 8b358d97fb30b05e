// `npm start`: builds what changed, then runs the demo's server in this process.
import { buildAll, exampleTargets, targets } from './build.mjs'

const needed = targets.filter((target) => target.name !== 'bench' && !exampleTargets.includes(target))
if (!(await buildAll({ only: needed }))) process.exit(1)
await import(new URL('../apps/demo/dist/server.js', import.meta.url).href)
