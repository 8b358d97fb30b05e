/** JSON Patch: the examples of RFC 6902 (appendix A) and RFC 6901, failures, atomicity, prototypes, bounds. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyPatch, JsonPatchError, ThreadReader, type Diagnostic, type JsonPatch } from '../index.ts'
import { extentOf } from './extent.ts'
import { PatchedDocument } from './json-patch.ts'

const APPLIES: readonly [name: string, document: unknown, patch: JsonPatch, expected: unknown][] = [
  ['A.1 adding an object member', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { foo: 'bar', baz: 'qux' }],
  ['A.2 adding an array element', { foo: ['bar', 'baz'] }, [{ op: 'add', path: '/foo/1', value: 'qux' }], { foo: ['bar', 'qux', 'baz'] }],
  ['A.3 removing an object member', { baz: 'qux', foo: 'bar' }, [{ op: 'remove', path: '/baz' }], { foo: 'bar' }],
  ['A.4 removing an array element', { foo: ['bar', 'qux', 'baz'] }, [{ op: 'remove', path: '/foo/1' }], { foo: ['bar', 'baz'] }],
  ['A.5 replacing a value', { baz: 'qux', foo: 'bar' }, [{ op: 'replace', path: '/baz', value: 'boo' }], { baz: 'boo', foo: 'bar' }],
  ['A.6 moving a value', { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } }, [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }], { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } }],
  ['A.7 moving an array element', { foo: ['all', 'grass', 'cows', 'eat'] }, [{ op: 'move', from: '/foo/1', path: '/foo/3' }], { foo: ['all', 'cows', 'eat', 'grass'] }],
  ['A.8 testing a value', { baz: 'qux', foo: ['a', 2, 'c'] }, [{ op: 'test', path: '/baz', value: 'qux' }, { op: 'test', path: '/foo/1', value: 2 }], { baz: 'qux', foo: ['a', 2, 'c'] }],
  ['A.10 adding a nested object', { foo: 'bar' }, [{ op: 'add', path: '/child', value: { grandchild: {} } }], { foo: 'bar', child: { grandchild: {} } }],
  ['A.14 escapes', { '/': 9, '~1': 10 }, [{ op: 'test', path: '/~01', value: 10 }], { '/': 9, '~1': 10 }],
  ['A.16 adding an array value', { foo: ['bar'] }, [{ op: 'add', path: '/foo/-', value: ['abc', 'def'] }], { foo: ['bar', ['abc', 'def']] }],
  ['the whole document', { a: 1 }, [{ op: 'replace', path: '', value: [1] }], [1]],
  ['an empty key', { '': 1 }, [{ op: 'replace', path: '/', value: 2 }], { '': 2 }],
  ['copy stands for itself: later edits touch one of the two', { a: { n: 1 } }, [{ op: 'copy', from: '/a', path: '/b' }, { op: 'replace', path: '/b/n', value: 2 }], { a: { n: 1 }, b: { n: 2 } }],
  ['copy after an edit in the same patch', { a: { n: 1 } }, [{ op: 'replace', path: '/a/n', value: 2 }, { op: 'copy', from: '/a', path: '/b' }, { op: 'replace', path: '/a/n', value: 3 }], { a: { n: 3 }, b: { n: 2 } }],
  ['move onto itself', { a: 1 }, [{ op: 'move', from: '/a', path: '/a' }], { a: 1 }],
  ['copy of what was edited deep down', { a: { b: { n: 1 } } }, [{ op: 'replace', path: '/a/b/n', value: 2 }, { op: 'copy', from: '/a', path: '/c' }, { op: 'replace', path: '/c/b/n', value: 3 }], { a: { b: { n: 2 } }, c: { b: { n: 3 } } }],
  ['key order does not matter to test', { a: { x: 1, y: 2 } }, [{ op: 'test', path: '/a', value: { y: 2, x: 1 } }], { a: { x: 1, y: 2 } }],
]

const FAILS: readonly [name: string, document: unknown, patch: JsonPatch, code: string, operation: number][] = [
  ['A.9 test of another value', { baz: 'qux' }, [{ op: 'test', path: '/baz', value: 'bar' }], 'test-failed', 0],
  ['A.12 adding to a parent that is not there', { foo: 'bar' }, [{ op: 'add', path: '/baz/bat', value: 'qux' }], 'path-missing', 0],
  ['A.15 a number is not its text', { a: 10 }, [{ op: 'test', path: '/a', value: '10' }], 'test-failed', 0],
  ['replacing what is not there', {}, [{ op: 'replace', path: '/a', value: 1 }], 'path-missing', 0],
  ['removing what is not there', {}, [{ op: 'remove', path: '/a' }], 'path-missing', 0],
  ['an index with a leading zero', { a: [1, 2] }, [{ op: 'remove', path: '/a/01' }], 'bad-index', 0],
  ['an index past the end', { a: [1] }, [{ op: 'add', path: '/a/2', value: 1 }], 'bad-index', 0],
  ['the end marker where nothing is added', { a: [1] }, [{ op: 'remove', path: '/a/-' }], 'bad-index', 0],
  ['moving into itself', { a: { b: {} } }, [{ op: 'move', from: '/a', path: '/a/b/c' }], 'move-into-self', 0],
  ['an inherited member', {}, [{ op: 'replace', path: '/toString', value: 1 }], 'path-missing', 0],
  ['the prototype', {}, [{ op: 'add', path: '/__proto__/polluted', value: true }], 'path-missing', 0],
  ['the constructor', {}, [{ op: 'add', path: '/constructor/prototype/polluted', value: true }], 'path-missing', 0],
  ['the second operation, after the first applied', { a: [1, 2], b: { c: 1, d: 2 } }, [{ op: 'remove', path: '/b/c' }, { op: 'remove', path: '/a/0' }, { op: 'remove', path: '/ghost' }], 'path-missing', 2],
]

describe('applies', () => {
  for (const [name, document, patch, expected] of APPLIES) {
    it(name, () => {
      const before = JSON.stringify(document)
      expect(applyPatch(document, patch)).toEqual(expected)
      expect(JSON.stringify(document)).toBe(before)
    })
  }

  it('a key __proto__ is data', () => {
    const patched = applyPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }]) as object
    expect(Object.keys(patched)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(patched)).toBe(Object.prototype)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})

describe('fails as a whole', () => {
  for (const [name, document, patch, code, operation] of FAILS) {
    it(name, () => {
      const before = JSON.stringify(document)
      let error: unknown
      try {
        applyPatch(document, patch)
      } catch (caught) {
        error = caught
      }
      expect(error).toBeInstanceOf(JsonPatchError)
      expect(error).toMatchObject({ code, operation })
      expect(JSON.stringify(document)).toBe(before)
    })
  }
})

/** A list in a list in a list … */
function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

function codeOf(document: unknown, patch: JsonPatch, limits?: Parameters<typeof applyPatch>[2]): string {
  try {
    applyPatch(document, patch, limits)
    return 'applies'
  } catch (error) {
    return (error as JsonPatchError).code
  }
}

describe('depth', () => {
  const limits = { jsonDepth: 4 }
  const CASES: readonly [name: string, document: unknown, patch: JsonPatch, outcome: string][] = [
    ['what is added counts from its place', { a: {} }, [{ op: 'add', path: '/a/b', value: nested(2) }], 'applies'],
    ['and no further', { a: {} }, [{ op: 'add', path: '/a/b', value: nested(3) }], 'too-deep'],
    ['replace as well', { a: { b: 1 } }, [{ op: 'replace', path: '/a/b', value: nested(3) }], 'too-deep'],
    ['the whole document as well', {}, [{ op: 'replace', path: '', value: nested(5) }], 'too-deep'],
    ['a value without members stands as deep as its parent lets it', nested(4), [{ op: 'replace', path: '/0/0/0/0', value: 2 }], 'applies'],
    ['a copy into what it is a copy of', { a: {} }, [{ op: 'copy', from: '', path: '/a/b' }, { op: 'copy', from: '', path: '/a/b/a/b' }], 'too-deep'],
    ['a move to a deeper place', { a: nested(2), b: { c: {} } }, [{ op: 'move', from: '/a', path: '/b/c/d' }], 'too-deep'],
    ['a move to a place as deep', { a: nested(3), b: 1 }, [{ op: 'move', from: '/a', path: '/b' }], 'applies'],
    ['a move up', { a: { b: { c: [] } } }, [{ op: 'move', from: '/a/b/c', path: '/d' }], 'applies'],
  ]
  for (const [name, document, patch, outcome] of CASES) it(name, () => expect(codeOf(document, patch, limits)).toBe(outcome))

  it('cannot be grown step by step', () => {
    const state = new PatchedDocument({ a: {}, seed: nested(100) })
    const wrap: JsonPatch = [{ op: 'add', path: '/b', value: {} }, { op: 'move', from: '/seed', path: '/b/x' }, { op: 'move', from: '/b', path: '/seed' }]
    let steps = 0
    try {
      for (; steps < 1_000; steps++) state.apply(wrap)
    } catch (error) {
      expect(error).toMatchObject({ code: 'too-deep', operation: 1 })
    }
    expect(steps).toBe(99)
    expect(extentOf(state.value, 1_000).depth).toBe(200)
  })
})

describe('size', () => {
  /** Each operation doubles the document. */
  const laughs = (times: number): JsonPatch => Array.from({ length: times }, (_, n) => ({ op: 'copy', from: '', path: `/a${n}` }))

  it('copies of copies are refused before they are many', () => {
    expect(codeOf({ a: 1 }, laughs(15))).toBe('applies')
    expect(codeOf({ a: 1 }, laughs(60))).toBe('too-large')
    expect(codeOf({ a: 1 }, laughs(5), { documentValues: 40 })).toBe('too-large')
  })

  it('in one patch or in many, counted wherever a value stands', () => {
    const state = new PatchedDocument({ a: [1, 2, 3] }, { documentValues: 20 })
    let applied = 0
    try {
      for (; applied < 100; applied++) {
        state.apply([{ op: 'copy', from: '/a', path: `/b${applied}` }])
        if (applied % 2 === 0) void state.value
      }
    } catch (error) {
      expect(error).toMatchObject({ code: 'too-large', operation: 0 })
    }
    expect(applied).toBe(3)
    expect(extentOf(state.value, 10).values).toBe(17)
  })

  it('what was removed makes room again, and a new document starts anew', () => {
    const state = new PatchedDocument({ a: [1, 2, 3] }, { documentValues: 20 })
    for (let n = 0; n < 100; n++) state.apply([{ op: 'copy', from: '/a', path: '/b' }, { op: 'add', path: '/b/-', value: n }, { op: 'remove', path: '/b' }])
    expect(state.value).toEqual({ a: [1, 2, 3] })
    state.value = { a: [] }
    for (let n = 0; n < 9; n++) state.apply([{ op: 'copy', from: '/a', path: `/a/${n}` }, { op: 'replace', path: `/a/${n}`, value: n }])
    expect(state.value).toEqual({ a: [0, 1, 2, 3, 4, 5, 6, 7, 8] })
  })

  it('a patch that failed leaves no wrong count behind', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom('/a', '/b', '/c'), fc.constantFrom('/a', '/b', '/c', '/a/x', '/b/y'), fc.constantFrom('copy', 'move', 'add', 'remove'), fc.boolean(), fc.boolean()), { maxLength: 30 }), (steps) => {
        const limits = { documentValues: 40 }
        const state = new PatchedDocument({ a: { x: [1, 2] }, b: {} }, limits)
        let alone: unknown = { a: { x: [1, 2] }, b: {} }
        for (const [from, path, op, fails, looks] of steps) {
          const patch = [{ op: 'add', path: '/b/n', value: [1] }, { op, from, path, value: [1] }, ...(fails ? [{ op: 'test', path: '', value: 0 }] : [])] as JsonPatch
          const before = looks ? state.value : undefined
          let code = 'applies'
          try {
            state.apply(patch)
          } catch (error) {
            ;({ code } = error as JsonPatchError)
          }
          // Alone, without anything remembered or owned, the patch does the same.
          expect(code).toBe(codeOf(alone, patch, limits))
          if (code === 'applies') alone = applyPatch(alone, patch, limits)
          else if (looks) expect(state.value).toBe(before)
        }
        expect(state.value).toEqual(alone)
      }),
      { numRuns: 500 },
    )
  })
})

it('a bound that a patch passes is a finding, and the stream goes on', () => {
  const found: Diagnostic[] = []
  const reader = new ThreadReader({ state: { a: 1 }, limits: { documentValues: 4 }, onDiagnostic: (diagnostic) => found.push(diagnostic) })
  reader.accept({ type: 'RUN_STARTED', threadId: 't', runId: 'r' })
  reader.accept({ type: 'STATE_DELTA', delta: [{ op: 'copy', from: '', path: '/b' }] })
  reader.accept({ type: 'STATE_DELTA', delta: [{ op: 'copy', from: '', path: '/c' }] })
  expect(reader.snapshot().state).toEqual({ a: 1, b: { a: 1 } })
  expect(found).toMatchObject([{ rule: 'state.patch-failed', event: 2, pointer: '/delta/0' }])
  expect(found[0]?.message).toContain('limits.documentValues')
})

describe('against the plain way: every operation on a deep copy', () => {
  type Json = null | number | Json[] | { [key: string]: Json }

  function plainOperation(document: Json, operation: JsonPatch[number]): Json {
    const box: Json = { root: structuredClone(document) }
    const place = (path: string): { parent: Json[] | { [key: string]: Json }; key: string } => {
      const keys = ['root', ...path.split('/').slice(1)]
      let parent: Json = box
      for (const key of keys.slice(0, -1)) parent = (parent as { [key: string]: Json })[key] as Json
      if (typeof parent !== 'object' || parent === null) throw new Error('no parent')
      return { parent, key: keys.at(-1) as string }
    }
    const take = (path: string, remove: boolean): Json => {
      const { parent, key } = place(path)
      if (!Object.hasOwn(parent, key) || (Array.isArray(parent) && !/^\d+$/.test(key))) throw new Error('no member')
      const value = (parent as { [key: string]: Json })[key] as Json
      if (!remove) return structuredClone(value)
      if (Array.isArray(parent)) parent.splice(Number(key), 1)
      else delete parent[key]
      return value
    }
    const add = (path: string, value: Json): void => {
      const { parent, key } = place(path)
      if (!Array.isArray(parent)) parent[key] = value
      else if (key === '-') parent.push(value)
      else if (/^\d+$/.test(key) && Number(key) <= parent.length) parent.splice(Number(key), 0, value)
      else throw new Error('no index')
    }
    switch (operation.op) {
      case 'add':
        add(operation.path, structuredClone(operation.value) as Json)
        break
      case 'remove':
        take(operation.path, true)
        break
      case 'copy':
        add(operation.path, take(operation.from, false))
        break
      case 'move':
        if (operation.from === operation.path) {
          take(operation.from, false)
        } else {
          if (operation.path.startsWith(`${operation.from}/`)) throw new Error('into itself')
          add(operation.path, take(operation.from, true))
        }
        break
      default:
        take(operation.path, false)
        if (operation.op === 'replace') {
          const { parent, key } = place(operation.path)
          ;(parent as { [key: string]: Json })[key] = structuredClone(operation.value) as Json
        }
    }
    return box['root'] as Json
  }

  function plain(document: Json, patch: JsonPatch): Json {
    try {
      return patch.reduce(plainOperation, document)
    } catch {
      return document
    }
  }

  const path = fc.array(fc.constantFrom('a', 'b', '0', '1', '-'), { minLength: 1, maxLength: 4 }).map((keys) => `/${keys.join('/')}`)
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.nat(9),
      fc.dictionary(fc.constantFrom('a', 'b', '0'), tie('value'), { maxKeys: 3, noNullPrototype: true }),
      fc.array(tie('value'), { maxLength: 3 }),
    ) as fc.Arbitrary<Json>,
  }))
  const operation = fc.oneof(
    fc.record({ op: fc.constantFrom('add', 'replace'), path, value }),
    fc.record({ op: fc.constant('remove'), path }),
    fc.record({ op: fc.constantFrom('move', 'copy'), from: path, path }),
  ) as fc.Arbitrary<JsonPatch[number]>
  const start: Json = { a: { a: { a: [1, 2], b: 3 }, b: [{ a: 4 }, [5]] }, b: [[{ b: 6 }], { 0: 7, a: [8] }], 0: { 1: { a: 9 } } }

  it('gives the same document in the same key order, and leaves what was seen as it was', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.array(operation, { minLength: 1, maxLength: 6 }), fc.boolean()), { maxLength: 8 }), (patches) => {
        const document = new PatchedDocument(start)
        let expected: Json = start
        const seen: [unknown, string][] = []
        for (const [patch, look] of patches) {
          try {
            document.apply(patch)
          } catch (error) {
            if (!(error instanceof JsonPatchError)) throw error
          }
          expected = plain(expected, patch)
          if (look) seen.push([document.value, JSON.stringify(expected)])
        }
        seen.push([document.value, JSON.stringify(expected)])
        for (const [snapshot, text] of seen) expect(JSON.stringify(snapshot)).toBe(text)
      }),
      { numRuns: 4_000 },
    )
  })
})
