// In development packages find each other's sources, unbuilt. The one list is `paths` in tsconfig.base.json;
// this turns it into aliases for Vite and Vitest. Built packages find each other through node_modules.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../', import.meta.url)

/** @returns {{ find: RegExp, replacement: string }[]} one exact-match alias for each entry of `paths` */
export function sourceAliases() {
  const { paths } = JSON.parse(readFileSync(new URL('tsconfig.base.json', root), 'utf8')).compilerOptions
  return Object.entries(paths).map(([name, [file]]) => ({
    find: new RegExp(`^${name}$`),
    replacement: fileURLToPath(new URL(file, root)),
  }))
}
