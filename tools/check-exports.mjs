// What a user of the packages gets: each is packed, and publint and are-the-types-wrong look at the tarball.
// Expects a build.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { packageTargets } from './build.mjs'

const root = fileURLToPath(new URL('../', import.meta.url))
const run = promisify(execFile)

/**
 * @param {string} dir a package's folder, from the root
 * @param {string} scratch folder for the tarball
 * @returns {Promise<string[]>} a line for each problem
 */
async function checkPackage(dir, scratch) {
  const pkgDir = join(root, dir)
  const manifest = JSON.parse(readFileSync(join(pkgDir, 'package.json'), 'utf8'))
  const packed = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch], {
    cwd: pkgDir,
    shell: process.platform === 'win32',
  })
  // npm prints a list, or an object keyed by package name, depending on its version.
  const [{ filename, files }] = Object.values(JSON.parse(packed.stdout))
  const tarball = join(scratch, filename)

  const { messages } = await publint({ pack: { tarball: new Uint8Array(readFileSync(tarball)).buffer }, strict: true })
  const problems = messages.map((message) => `${manifest.name}: publint: ${formatMessage(message, manifest)}`)
  for (const { path } of files) {
    if (/^src\/|\.test\./.test(path)) problems.push(`${manifest.name}: ${path} must not be published`)
  }
  if (manifest.exports?.['.']) {
    const attw = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js')
    await run(process.execPath, [attw, tarball, '--profile', 'esm-only', '--format', 'ascii', '--no-emoji', '--no-color'])
      .catch((error) => problems.push(`${manifest.name}: attw:\n${error.stdout}${error.stderr}`))
  }
  return problems
}

/** @returns {Promise<string[]>} a line for each problem in any package */
export async function checkExports() {
  const scratch = mkdtempSync(join(tmpdir(), 'millrace-pack-'))
  try {
    const each = packageTargets.map(({ dir }) =>
      checkPackage(dir, scratch).catch((/** @type {unknown} */ error) => [`${dir}: ${error}`]),
    )
    return (await Promise.all(each)).flat()
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const problems = await checkExports()
  for (const problem of problems) console.error(problem)
  console.log(`exports: ${packageTargets.length} packages, ${problems.length} problems`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
