// Which names that a package exports have no docstring (a `/** … */` right before their declaration). It follows re-exports
// from the package's entry to where each name is declared; names of other packages are theirs to describe.
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseSync } from 'oxc-parser'

const root = fileURLToPath(new URL('../', import.meta.url))

/** Entries whose every export has to be described. */
export const entries = ['packages/protocol/src/index.ts', 'packages/protocol/src/proto.ts']

/** @typedef {{ documented: boolean, line: number }} Declaration */
/** A name, what it is called where it comes from, and the module it is passed on from, if it is. @typedef {{ name: string, local: string, from?: string }} Named */
/** `passedOn`: modules all of whose exports are exported. @typedef {{ declared: Map<string, Declaration>, exported: Named[], passedOn: string[] }} Module */

/**
 * What a file declares and exports. A name that is declared more than once (overloads, a type and a value) is described if one of
 * its declarations is.
 * @param {string} path @param {string} text @returns {Module}
 */
function readModule(path, text) {
  const { program, comments, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  const docs = new Set(comments.filter(({ type, value }) => type === 'Block' && value.startsWith('*')).map(({ end }) => end))
  /** @type {Map<string, Declaration>} */
  const declared = new Map()
  /** @type {Map<string, Named>} */
  const imported = new Map()
  /** @type {Named[]} */
  const exported = []
  /** @type {string[]} */
  const passedOn = []

  /** @param {any} declaration @param {number} start where the statement begins @returns {string[]} its names */
  const declare = (declaration, start) => {
    /** @type {{ name: string }[]} */
    const ids = declaration.declarations?.map((/** @type {any} */ { id }) => id) ?? (declaration.id ? [declaration.id] : [])
    const documented = docs.has(text.slice(0, start).trimEnd().length)
    for (const { name } of ids) {
      declared.set(name, { documented: documented || declared.get(name)?.documented === true, line: text.slice(0, start).split('\n').length })
    }
    return ids.map(({ name }) => name)
  }

  for (const statement of /** @type {any[]} */ (program.body)) {
    const { type, source } = statement
    if (type === 'ImportDeclaration') {
      for (const { local, imported: original } of statement.specifiers) {
        if (original) imported.set(local.name, { name: local.name, local: original.name, from: source.value })
      }
    } else if (type === 'ExportAllDeclaration' && !statement.exported) {
      passedOn.push(source.value)
    } else if (type === 'ExportNamedDeclaration') {
      if (statement.declaration) exported.push(...declare(statement.declaration, statement.start).map((name) => ({ name, local: name })))
      for (const { local, exported: outer } of statement.specifiers) {
        exported.push({ name: outer.name, local: local.name, ...(source && { from: source.value }) })
      }
    } else {
      declare(statement, statement.start)
    }
  }
  // What is imported and then exported is passed on, too.
  return { declared, passedOn, exported: exported.map((one) => ({ ...one, ...(one.from === undefined && !declared.has(one.local) && imported.get(one.local)), name: one.name })) }
}

/**
 * @param {string} entry a source file
 * @param {(path: string) => string} [read]
 * @returns {string[]} `name (file:line)` for each export without docstring, in the order of the exports
 */
export function undocumented(entry, read = (path) => readFileSync(path, 'utf8')) {
  /** @type {Map<string, Module>} */
  const modules = new Map()
  /** @param {string} path @returns {Module} */
  const load = (path) => {
    const module = modules.get(path) ?? readModule(path, read(path))
    modules.set(path, module)
    return module
  }
  /** Files that a file passes on whole. @param {string} path */
  const wholes = (path) => load(path).passedOn.filter((source) => source.startsWith('.')).map((source) => join(dirname(path), source))
  /** @param {string} path @returns {string[]} */
  const namesOf = (path) => [...load(path).exported.map(({ name }) => name), ...wholes(path).flatMap(namesOf)]

  /** Where a name that a file exports is declared; undefined in another package. @param {string} path @param {string} name @returns {(Declaration & { path: string }) | undefined} */
  const find = (path, name) => {
    const named = load(path).exported.find((one) => one.name === name)
    if (named?.from !== undefined) return named.from.startsWith('.') ? find(join(dirname(path), named.from), named.local) : undefined
    const declaration = named && load(path).declared.get(named.local)
    if (declaration) return { ...declaration, path }
    const whole = wholes(path).find((file) => namesOf(file).includes(name))
    if (whole === undefined) throw new Error(`${path}: cannot find where \`${name}\` is declared`)
    return find(whole, name)
  }

  return [...new Set(namesOf(entry))].flatMap((name) => {
    const found = find(entry, name)
    return found === undefined || found.documented ? [] : [`${name} (${relative(root, found.path)}:${found.line})`]
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const missing = entries.flatMap((entry) => undocumented(join(root, entry)))
  for (const one of missing) console.error(`no docstring: ${one}`)
  console.log(`docstrings: ${entries.length} entries, ${missing.length} exports without`)
  process.exitCode = missing.length > 0 ? 1 : 0
}
