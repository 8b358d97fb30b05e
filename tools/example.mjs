// `npm run example -- NAME`: builds a page of examples/ and serves it, with the demo's agent behind it.
import { fileURLToPath } from 'node:url'
import { buildAll, exampleTargets, targets } from './build.mjs'

const root = new URL('../', import.meta.url)
const [name] = process.argv.slice(2)
const example = exampleTargets.find((target) => target.name === `example-${name}`)
if (example === undefined) {
  const names = exampleTargets.map((target) => target.name.replace('example-', ''))
  console.error(`example: name one of ${names.join(', ')}, as in \`npm run example -- ${names[0]}\``)
  process.exit(2)
}

const needed = targets.filter((target) => target.name === 'demo' || target === example || target.dir.startsWith('packages/'))
if (!(await buildAll({ only: needed }))) process.exit(1)
process.env.DEMO_PAGE = fileURLToPath(new URL(`${example.dir}/dist/`, root))
await import(new URL('apps/demo/dist/server.js', root).href)
