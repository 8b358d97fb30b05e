import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { entries, undocumented } from './check-docstrings.mjs'

const root = fileURLToPath(new URL('../', import.meta.url))

/** Names without docstring in a package of these files; the first is its entry. */
function missing(files: Record<string, string>): string[] {
  const read = (path: string): string => {
    const text = files[path]
    if (text === undefined) throw new Error(`read ${path}`)
    return text
  }
  return undocumented(Object.keys(files)[0] ?? '', read).map((line) => line.slice(0, line.indexOf(' ')))
}

describe('exports without docstring', () => {
  it('are found, whatever they are', () => {
    const text = `
      import { x } from './x.ts'
      export const a = 1
      export function b() {}
      export class C {}
      export interface D {}
      export type E = 1
      export const f = 1, g = 2
      const h = 1
      export { h, h as i }
      const hidden = 1
    `
    expect(missing({ 'a.ts': text })).toEqual(['a', 'b', 'C', 'D', 'E', 'f', 'g', 'h', 'i'])
  })

  it('are those with no comment, or another one, right before them', () => {
    const text = `
      /** The file. */
      import { x } from './x.ts'
      // One line.
      export const a = 1
      /* No docstring. */
      export const b = 1
      /** Far away. */
      const between = 1
      export const c = 1
      /** Here. */
      export const d = 1
      /** Of the first overload. */
      export function e(a: string): void
      export function e(a: number): void
      export function e(): void {}
    `
    expect(missing({ 'a.ts': text })).toEqual(['a', 'b', 'c'])
  })

  it('are looked for where a name is declared', () => {
    expect(
      missing({
        'index.ts': `export { a, b as c } from './a.ts'\nexport * from './d.ts'\nexport type * from './e.ts'\nimport { f } from './f.ts'\nexport { f }\nexport { g } from 'elsewhere'`,
        'a.ts': `/** A. */\nexport const a = 1\nexport const b = 1`,
        'd.ts': `export const d = 1\nexport { a as alsoA } from './a.ts'`,
        'e.ts': `/** E. */\nexport type E = 1\nexport type E2 = 1`,
        'f.ts': `export const f = 1`,
      }),
    ).toEqual(['c', 'f', 'd', 'E2'])
  })
})

describe('every export has a docstring', () => {
  it.each(entries)('%s', (entry) => {
    expect(undocumented(join(root, entry))).toEqual([])
  })
})
