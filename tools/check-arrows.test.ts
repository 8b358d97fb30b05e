import { describe, expect, it } from 'vitest'
import { areas, checkArrows, importsOf } from './check-arrows.mjs'

const packages = {
  '@millrace/protocol': 'packages/protocol/src/index.ts',
  '@millrace/client': 'packages/client/src/index.ts',
  '@millrace/server': 'packages/server/src/index.ts',
}
const check = (files: Record<string, string>, allowed: string[] = []): string[] =>
  checkArrows({ sources: new Map(Object.entries(files)), packages, dependencies: () => new Set(allowed) })

const p = 'packages/protocol/src/'

describe('imports of a file', () => {
  it('sees every way to name a module, once each', () => {
    const text = `
      import type { A } from './a.ts'
      import { type B } from './b.ts'
      import './c.ts'
      export * from './d.ts'
      export type { E } from './e.ts'
      export const f = () => import('./f.ts')
      export type G = import('./g.ts').G | import('./a.ts').A
    `
    expect(importsOf('x.ts', text).map(({ name }) => name).sort()).toEqual(
      ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `./${name}.ts`),
    )
    expect(importsOf('x.ts', text)).toContainEqual({ name: './c.ts', line: 4 })
  })

  it('refuses what it cannot parse', () => {
    expect(() => importsOf('x.ts', 'import {')).toThrow('x.ts')
  })
})

describe('arrows', () => {
  it('accepts the architecture', () => {
    const files = {
      [`${p}errors.ts`]: '',
      [`${p}json.ts`]: `import './errors.ts'`,
      [`${p}frames/sse.ts`]: `import '../json.ts'`,
      [`${p}wire/index.ts`]: `import type { A } from '../frames/sse.ts'`,
      [`${p}pipeline/a.ts`]: `import '../wire/index.ts'`,
      [`${p}index.ts`]: `export * from './pipeline/a.ts'`,
      'packages/client/src/index.ts': `import '@millrace/protocol'`,
      'packages/client/src/chat/chat.ts': `import '../index.ts'`,
    }
    expect(check(files)).toEqual([])
  })

  it.each([
    ['backwards, as a type', `${p}frames/sse.ts`, `import type { A } from '../events/a.ts'`, `${p}events/a.ts`],
    ['from a leaf', `${p}errors.ts`, `export * from './events/a.ts'`, `${p}events/a.ts`],
    ['of the pipeline', `${p}wire/a.ts`, `import '../pipeline/a.ts'`, `${p}pipeline/a.ts`],
    ['of the barrel', `${p}wire/a.ts`, `import '../index.ts'`, `${p}index.ts`],
    ['client to server', 'packages/client/src/a.ts', `import '@millrace/server'`, 'packages/server/src/index.ts'],
    [
      'server to client',
      'packages/server/src/a.ts',
      `type A = import('@millrace/client').A`,
      'packages/client/src/index.ts',
    ],
    ['react past client', 'packages/react/src/a.ts', `import '@millrace/protocol'`, `${p}index.ts`],
  ])('refuses an import %s', (_what, from, text, to) => {
    const problems = check({ [from]: text, [to]: '' })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(/must not import/)
    expect(problems[0]).toContain(`${from}:1`)
  })

  it('refuses a cycle, type imports included', () => {
    const files = {
      [`${p}state/a.ts`]: `import './b.ts'`,
      [`${p}state/b.ts`]: `import type { C } from './c.ts'`,
      [`${p}state/c.ts`]: `export type { A } from './a.ts'`,
    }
    expect(check(files)).toEqual([`cycle: ${p}state/a.ts → ${p}state/b.ts → ${p}state/c.ts → ${p}state/a.ts`])
  })

  it('refuses another package by path, an undeclared dependency, and node in what runs everywhere', () => {
    const from = 'packages/client/src/a.ts'
    expect(check({ [from]: `import '../../protocol/src/index.ts'`, [`${p}index.ts`]: '' })).toEqual([
      `${from}:1 reaches into packages/protocol by path; import the package by name`,
    ])
    expect(check({ [from]: `import 'left/pad'` })).toEqual([
      `${from}:1 imports left, which packages/client/package.json does not list`,
    ])
    expect(check({ [from]: `import 'left/pad'` }, ['left'])).toEqual([])
    expect(check({ [from]: `import 'node:fs'` })).toEqual([
      `${from}:1 imports node:fs, but client must run outside Node`,
    ])
  })

  it('refuses a file that no row covers', () => {
    expect(check({ [`${p}elsewhere/a.ts`]: '' })).toHaveLength(1)
  })

  it('names only areas that exist', () => {
    const names = areas.map(({ area }) => area)
    expect(new Set(names).size).toBe(names.length)
    for (const { mayImport } of areas) expect(names).toEqual(expect.arrayContaining([...mayImport]))
  })
})
