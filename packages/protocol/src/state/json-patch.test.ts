/** JSON Patch: the examples of RFC 6902 (appendix A) and RFC 6901, failures, atomicity, prototypes. */
import { describe, expect, it } from 'vitest'
import { applyPatch, JsonPatchError, type JsonPatch } from '../index.ts'

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
