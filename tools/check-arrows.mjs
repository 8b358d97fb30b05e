// Which file may import which: the arrows of the architecture, type imports included. Every source file belongs to
// the last row of `areas` that matches it; inside a row files import freely as long as they form no cycle.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseSync, Visitor } from 'oxc-parser'

/** @typedef {{ area: string, files: string, mayImport: readonly string[], node?: false }} Area */

const leaf = ['protocol/leaf']
const events = [...leaf, 'protocol/frames']
const verified = [...events, 'protocol/events']
const state = [...verified, 'protocol/verified']
const view = [...state, 'protocol/state']
const wire = [...view, 'protocol/view']
const pipeline = [...wire, 'protocol/wire', 'protocol/subscribers']

/**
 * The allowed arrows. `files`: a path prefix ending in `/` (everything below), `*` (that folder's own files), or a
 * file. `node: false`: must run outside Node, so no `node:` import.
 * @type {readonly Area[]}
 */
export const areas = [
  { area: 'protocol/leaf', files: 'packages/protocol/src/*', mayImport: [], node: false },
  { area: 'protocol/frames', files: 'packages/protocol/src/frames/', mayImport: leaf, node: false },
  { area: 'protocol/events', files: 'packages/protocol/src/events/', mayImport: events, node: false },
  { area: 'protocol/verified', files: 'packages/protocol/src/verified/', mayImport: verified, node: false },
  { area: 'protocol/state', files: 'packages/protocol/src/state/', mayImport: state, node: false },
  { area: 'protocol/subscribers', files: 'packages/protocol/src/subscribers/', mayImport: view, node: false },
  { area: 'protocol/view', files: 'packages/protocol/src/view/', mayImport: view, node: false },
  { area: 'protocol/wire', files: 'packages/protocol/src/wire/', mayImport: wire, node: false },
  { area: 'protocol/pipeline', files: 'packages/protocol/src/pipeline/', mayImport: pipeline, node: false },
  {
    area: 'protocol',
    files: 'packages/protocol/src/index.ts',
    mayImport: [...pipeline, 'protocol/pipeline'],
    node: false,
  },
  { area: 'protocol/proto', files: 'packages/protocol/src/proto/', mayImport: [...events, 'protocol/events'], node: false },
  // The subpath is loaded by who needs it, so nothing here imports it, and it does not bring the rest along.
  { area: 'protocol/proto-entry', files: 'packages/protocol/src/proto.ts', mayImport: [...events, 'protocol/proto'], node: false },
  { area: 'client', files: 'packages/client/src/', mayImport: ['protocol'], node: false },
  { area: 'react', files: 'packages/react/src/', mayImport: ['client'], node: false },
  { area: 'vue', files: 'packages/vue/src/', mayImport: ['client'], node: false },
  { area: 'svelte', files: 'packages/svelte/src/', mayImport: ['client'], node: false },
  { area: 'solid', files: 'packages/solid/src/', mayImport: ['client'], node: false },
  { area: 'server', files: 'packages/server/src/', mayImport: ['protocol'], node: false },
  { area: 'server/node', files: 'packages/server/src/node.ts', mayImport: ['protocol', 'server'] },
  // For tests: what is published must not need it, so no other row may import it.
  { area: 'testkit', files: 'packages/testkit/src/', mayImport: ['protocol', 'client', 'server', 'server/node'] },
  { area: 'cli', files: 'packages/cli/src/', mayImport: ['protocol/proto-entry', 'protocol', 'client', 'server', 'server/node'] },
  { area: 'demo', files: 'apps/demo/', mayImport: ['protocol', 'client', 'react', 'server', 'server/node'] },
  { area: 'examples', files: 'examples/', mayImport: ['protocol', 'client', 'react', 'vue', 'svelte', 'solid'] },
  { area: 'bench', files: 'bench/', mayImport: ['protocol', 'client', 'react', 'server', 'server/node'] },
]

/** @param {string} path @param {readonly Area[]} rows */
function areaOf(path, rows) {
  return rows.findLast(({ files }) => {
    if (files.endsWith('/')) return path.startsWith(files)
    if (files.endsWith('*')) return posix.dirname(path) === files.slice(0, -2)
    return path === files
  })
}

/** The package (or app) a file is part of: its folder. @param {string} path */
const packageOf = (path) => /^(packages|apps)\/[^/]+/.exec(path)?.[0] ?? path.slice(0, path.indexOf('/'))

/**
 * Every module a file names: static and dynamic imports, re-exports, and `import('…').T` types.
 * @param {string} path @param {string} text
 * @returns {{ name: string, line: number }[]}
 */
export function importsOf(path, text) {
  const { program, module, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  /** @type {{ name: string, at: number }[]} */
  const found = [
    ...module.staticImports.map(({ moduleRequest: m }) => ({ name: m.value, at: m.start })),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest: m }) => (m ? [{ name: m.value, at: m.start }] : [])),
    ),
  ]
  new Visitor({
    ImportExpression({ source }) {
      if (source.type === 'Literal' && typeof source.value === 'string') {
        found.push({ name: source.value, at: source.start })
      }
    },
    TSImportType({ source }) {
      found.push({ name: source.value, at: source.start })
    },
  }).visit(program)
  const seen = new Map(found.map(({ name, at }) => [name, at]))
  return [...seen].map(([name, at]) => ({ name, line: text.slice(0, at).split('\n').length }))
}

/**
 * @param {object} input
 * @param {ReadonlyMap<string, string>} input.sources path from the root (with `/`) to text
 * @param {Readonly<Record<string, string>>} input.packages package entry (`@millrace/client`) to its source file
 * @param {readonly Area[]} [input.rows]
 * @param {(folder: string) => ReadonlySet<string>} [input.dependencies] what a package's package.json lets it import
 * @returns {string[]} one sentence for each problem
 */
export function checkArrows({ sources, packages, rows = areas, dependencies }) {
  /** @type {string[]} */
  const problems = []
  /** @type {Map<string, string[]>} */
  const graph = new Map()

  for (const [path, text] of sources) {
    /** @type {string[]} */
    const edges = []
    graph.set(path, edges)
    const from = areaOf(path, rows)
    if (!from) {
      problems.push(`${path}: no row of \`areas\` in tools/check-arrows.mjs covers this file`)
      continue
    }
    for (const { name, line } of importsOf(path, text)) {
      const where = `${path}:${line}`
      const relative = name.startsWith('.')
      const target = relative ? posix.join(posix.dirname(path), name) : packages[name]
      if (target === undefined) {
        const builtin = name.startsWith('node:')
        const bare = name.split('/', name.startsWith('@') ? 2 : 1).join('/')
        if (builtin && from.node === false) {
          problems.push(`${where} imports ${name}, but ${from.area} must run outside Node`)
        } else if (!builtin && dependencies && !dependencies(packageOf(path)).has(bare)) {
          problems.push(`${where} imports ${bare}, which ${packageOf(path)}/package.json does not list`)
        }
        continue
      }
      if (relative && packageOf(target) !== packageOf(path)) {
        problems.push(`${where} reaches into ${packageOf(target)} by path; import the package by name`)
      } else if (sources.has(target)) {
        edges.push(target)
        const to = areaOf(target, rows)
        if (to && to !== from && !from.mayImport.includes(to.area)) {
          problems.push(`${where} imports ${name}: ${from.area} must not import ${to.area}`)
        }
      } else if (/\.tsx?$/.test(target)) {
        problems.push(`${where} imports ${name}, which is a test or does not exist`)
      }
    }
  }
  return [...problems, ...cycles(graph).map((files) => `cycle: ${files.join(' → ')}`)]
}

/**
 * @param {ReadonlyMap<string, readonly string[]>} graph
 * @returns {string[][]} the cycles closed by a depth-first walk, each beginning and ending with the same file
 */
function cycles(graph) {
  /** @type {string[][]} */
  const found = []
  const done = new Set()
  /** @type {string[]} */
  const path = []
  /** @param {string} file */
  const visit = (file) => {
    const at = path.indexOf(file)
    if (at >= 0) found.push([...path.slice(at), file])
    if (at >= 0 || done.has(file)) return
    path.push(file)
    for (const next of graph.get(file) ?? []) visit(next)
    path.pop()
    done.add(file)
  }
  for (const file of graph.keys()) visit(file)
  return found
}

/** Source files (no tests, no config files) below the folders that `areas` speaks of. @param {string} root */
export function readSources(root) {
  /** @type {Map<string, string>} */
  const sources = new Map()
  const skip = new Set(['node_modules', 'dist', 'test', 'bin'])
  /** @param {string} folder */
  const walk = (folder) => {
    if (!existsSync(join(root, folder))) return
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = posix.join(folder, entry.name)
      if (entry.isDirectory()) {
        if (!skip.has(entry.name)) walk(path)
      } else if (/\.tsx?$/.test(path) && !/\.(test|test-d|config|d)\.tsx?$/.test(path)) {
        sources.set(path, readFileSync(join(root, path), 'utf8'))
      }
    }
  }
  for (const folder of ['packages', 'apps', 'bench', 'examples']) walk(folder)
  return sources
}

/** @param {string} root */
function checkRepository(root) {
  /** @param {string} path */
  const json = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))
  /** @type {Record<string, [string]>} */
  const paths = json('tsconfig.base.json').compilerOptions.paths
  const packages = Object.fromEntries(Object.entries(paths).map(([name, [file]]) => [name, posix.normalize(file)]))
  const rootDev = Object.keys(json('package.json').devDependencies)
  /** @type {Map<string, Set<string>>} */
  const cache = new Map()
  const sources = readSources(root)
  const problems = checkArrows({
    sources,
    packages,
    dependencies: (folder) => {
      const known = cache.get(folder)
      if (known) return known
      const manifest = json(`${folder}/package.json`)
      const names = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }))
      // What is not published may also use what the repository itself has installed.
      if (manifest.private) for (const name of rootDev) names.add(name)
      cache.set(folder, names)
      return names
    },
  })
  return { files: sources.size, problems }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { files, problems } = checkRepository(fileURLToPath(new URL('../', import.meta.url)))
  for (const problem of problems) console.error(problem)
  console.log(`arrows: ${files} files, ${problems.length} problems`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
