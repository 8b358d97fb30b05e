import { describe, expect, test } from 'vitest'
import { changedPaths } from './changed-paths.ts'

describe('changedPaths', () => {
  test.each([
    ['the same', { a: 1 }, { a: 1 }, []],
    ['a leaf', { a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, ['/a/c']],
    ['a new item is new in all its parts', { a: [1] }, { a: [1, { x: 2 }] }, ['/a/1', '/a/1/x']],
    ['another kind', { a: 1 }, { a: [1] }, ['/a', '/a/0']],
    ['a removed member leaves no path', { a: 1, b: 2 }, { a: 1 }, []],
    ['names with slashes and tildes', { 'a/b': 1, '~': 1 }, { 'a/b': 2, '~': 2 }, ['/a~1b', '/~0']],
    ['names of the prototype', {}, { toString: 1 }, ['/toString']],
    ['null', { a: null }, { a: {} }, ['/a']],
  ])('%s', (_name, before, after, paths) => {
    expect([...changedPaths(before, after)]).toEqual(paths)
  })
})
