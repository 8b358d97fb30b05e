// Builds what changed: packages with tsdown, the demo's page with Vite. A target is rebuilt when the contents of its
// inputs differ from those of its last good build, or when its output is missing.
//
//   node tools/build.mjs [--force] [NAME…]    all targets, or those named
//   node tools/build.mjs --prepare            the packages only; a failure is told but does not fail `npm install`
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const stamps = join(root, 'node_modules/.cache/millrace-build')

/** @typedef {{ name: string, dir: string, needs: string, makes: string, page?: boolean, inputs?: string[] }} Target */

/** In dependency order. `needs`: the file without which there is nothing to build; `inputs`: more folders to watch. */
const packages = /** @type {Target[]} */ ([
  { name: 'protocol', dir: 'packages/protocol', needs: 'src/index.ts', makes: 'dist/index.js' },
  { name: 'client', dir: 'packages/client', needs: 'src/index.ts', makes: 'dist/index.js' },
  { name: 'react', dir: 'packages/react', needs: 'src/index.ts', makes: 'dist/index.js' },
  { name: 'vue', dir: 'packages/vue', needs: 'src/index.ts', makes: 'dist/index.js' },
  { name: 'svelte', dir: 'packages/svelte', needs: 'src/index.ts', makes: 'dist/index.js' },
  { name: 'solid', dir: 'packages/solid', needs: 'src/index.ts', makes: 'dist/index.js' },
  { name: 'server', dir: 'packages/server', needs: 'src/index.ts', makes: 'dist/index.js' },
  { name: 'testkit', dir: 'packages/testkit', needs: 'src/index.ts', makes: 'dist/index.js' },
  { name: 'cli', dir: 'packages/cli', needs: 'src/main.ts', makes: 'dist/main.js' },
])
const programs = /** @type {Target[]} */ ([
  { name: 'bench', dir: 'bench', needs: 'main.ts', makes: 'dist/main.js' },
  {
    name: 'bench-page',
    dir: 'bench/page',
    needs: 'index.html',
    makes: 'dist/index.html',
    page: true,
    inputs: ['packages/protocol', 'packages/client', 'packages/react', 'bench/workloads'],
  },
  { name: 'demo', dir: 'apps/demo', needs: 'server.ts', makes: 'dist/server.js' },
  {
    name: 'demo-page',
    dir: 'apps/demo',
    needs: 'index.html',
    makes: 'dist/web/index.html',
    page: true,
    // The page bundles these, so a change in them changes it.
    inputs: ['packages/protocol', 'packages/client', 'packages/react'],
  },
])
/** One page, made with each framework and with none. */
export const exampleTargets = ['react', 'vue', 'svelte', 'solid', 'plain'].map(
  (name) =>
    /** @type {Target} */ ({
      name: `example-${name}`,
      dir: `examples/${name}`,
      needs: 'index.html',
      makes: 'dist/index.html',
      page: true,
      inputs: ['packages/protocol', 'packages/client', 'examples/shared', ...(name === 'plain' ? [] : [`packages/${name}`])],
    }),
)
export const targets = [...packages, ...programs, ...exampleTargets]

const shared = ['tsconfig.base.json', 'package-lock.json', 'tools/tsdown-base.mjs', 'tools/example-page.mjs', 'tools/build.mjs']
const skipped = new Set(['node_modules', 'dist', 'test'])
const isTest = /\.(test|test-d)\.tsx?$/

/** @param {string} path @returns {string[]} */
function filesIn(path) {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    if (skipped.has(entry.name) || isTest.test(entry.name)) return []
    const inner = join(path, entry.name)
    return entry.isDirectory() ? filesIn(inner) : [inner]
  })
}

/** @param {Target} target */
function fingerprint(target) {
  const hash = createHash('sha256')
  const folders = [target.dir, ...(target.inputs ?? [])].flatMap((dir) => filesIn(join(root, dir)))
  for (const file of [...shared.map((name) => join(root, name)), ...folders].sort()) {
    if (existsSync(file)) hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0')
  }
  return hash.digest('hex')
}

/** @param {Target} target */
async function run(target) {
  const cwd = join(root, target.dir)
  if (target.page) {
    const vite = await import('vite')
    // A build sets NODE_ENV for good; what runs after it in this process or below must not see that.
    const { NODE_ENV } = process.env
    try {
      await vite.build({ root: cwd, configFile: join(cwd, 'vite.config.ts'), logLevel: 'warn' })
    } finally {
      if (NODE_ENV === undefined) delete process.env.NODE_ENV
      else process.env.NODE_ENV = NODE_ENV
    }
    return
  }
  const [{ build }, config] = await Promise.all([
    import('tsdown'),
    import(pathToFileURL(join(cwd, 'tsdown.config.js')).href),
  ])
  await build({ ...config.default, config: false, cwd, logLevel: 'error' })
}

/**
 * Builds the targets whose inputs changed, in order; a failure does not stop the others.
 * @param {{ only?: Target[], force?: boolean, log?: (line: string) => void }} [options]
 * @returns {Promise<boolean>} whether everything that has sources is now built
 */
export async function buildAll({ only = targets, force = false, log = (line) => console.log(line) } = {}) {
  let ok = true
  mkdirSync(stamps, { recursive: true })
  for (const target of only) {
    if (!existsSync(join(root, target.dir, target.needs))) {
      log(`build: ${target.name} has no ${target.needs} yet, left out`)
      continue
    }
    const stamp = join(stamps, target.name)
    const print = fingerprint(target)
    const built = existsSync(join(root, target.dir, target.makes))
    if (!force && built && existsSync(stamp) && readFileSync(stamp, 'utf8') === print) continue
    const start = performance.now()
    rmSync(stamp, { force: true })
    try {
      await run(target)
      writeFileSync(stamp, print)
      log(`build: ${target.name} ${((performance.now() - start) / 1000).toFixed(1)} s`)
    } catch (error) {
      ok = false
      log(`build: ${target.name} FAILED\n${error instanceof Error ? error.message : error}`)
    }
  }
  return ok
}

export const packageTargets = packages

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const args = process.argv.slice(2)
  const prepare = args.includes('--prepare')
  const names = args.filter((arg) => !arg.startsWith('--'))
  const unknown = names.filter((name) => !targets.some((target) => target.name === name))
  if (unknown.length > 0) {
    console.error(`build: no such target: ${unknown.join(', ')} (there are ${targets.map((t) => t.name).join(', ')})`)
    process.exit(2)
  }
  const only = prepare ? packages : names.length > 0 ? targets.filter((t) => names.includes(t.name)) : targets
  const ok = await buildAll({ only, force: args.includes('--force') })
  process.exitCode = ok || prepare ? 0 : 1
}
