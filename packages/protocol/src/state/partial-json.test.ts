/** Partial JSON by example: what a reading shows of each kind of value, errors, prototypes. Its laws are in test/laws. */
import { describe, expect, it } from 'vitest'
import { PartialJson, type PartialJsonError } from './partial-json.ts'

/** The reading of a text, appended whole and unit by unit. */
function read(text: string, limits?: ConstructorParameters<typeof PartialJson>[0]): { value: unknown; complete: boolean; error: PartialJsonError | undefined } {
  const whole = new PartialJson(limits)
  whole.append(text)
  const units = new PartialJson(limits)
  for (let at = 0; at < text.length; at++) {
    units.append(text.charAt(at))
    void units.value
  }
  const { value, complete, error } = whole
  expect({ value: units.value, complete: units.complete, error: units.error }).toEqual({ value, complete, error })
  return { value, complete, error }
}

describe('the best reading', () => {
  const READS: readonly [text: string, value: unknown][] = [
    ['', undefined],
    [' \n', undefined],
    ['"', ''],
    ['"ab', 'ab'],
    ['"ab\\', 'ab'],
    ['"ab\\n', 'ab\n'],
    ['"ab\\u00', 'ab'],
    ['"ab\\u00e9', 'abé'],
    ['"👋'.slice(0, 2), ''],
    ['"👋', '👋'],
    ['"\\ud83d', ''],
    ['"\\ud83d\\udc', ''],
    ['"\\ud83d\\udc4b', '👋'],
    ['"\\ud83dx', '\ud83dx'],
    ['"\\ud83d"', '\ud83d'],
    ['"\\udc4b', '\udc4b'],
    ['[', []],
    ['[1', []],
    ['[1 ', [1]],
    ['[1,', [1]],
    ['[-', []],
    ['[1.5e+3]', [1500]],
    ['[tru', []],
    ['[true', [true]],
    ['[nul', []],
    ['[null', [null]],
    ['["', ['']],
    ['[[', [[]]],
    ['{', {}],
    ['{"a', {}],
    ['{"a"', {}],
    ['{"a":', {}],
    ['{"a":1', {}],
    ['{"a":1}', { a: 1 }],
    ['{"a":"', { a: '' }],
    ['{"a":{"b":["c', { a: { b: ['c'] } }],
    ['{"a":1,"a":', { a: 1 }],
    ['{"a":1,"a":"x', { a: 'x' }],
    ['tru', undefined],
    ['true', true],
    ['-', undefined],
    ['1', 1],
    ['12', 12],
    ['12.', 12],
    ['12.5e', 12.5],
    ['-0', -0],
    ['1e400', Infinity],
  ]
  for (const [text, value] of READS) it(JSON.stringify(text), () => expect(read(text)).toMatchObject({ value, error: undefined }))

  it('is complete when the text is JSON', () => {
    for (const text of ['{}', ' [1] ', '"a"', 'null', '-1.5', ' 7 ']) expect(read(text).complete, text).toBe(true)
    for (const text of ['', '[', '[1', '"a', 'nul', '-', '1.', '1e+', '{"a":1']) expect(read(text).complete, text).toBe(false)
  })
})

describe('what is no JSON', () => {
  const FAILS: readonly [text: string, value: unknown, at: number][] = [
    ['x', undefined, 0],
    ['\u{feff}{}', undefined, 0],
    ['[1 x', [1], 3],
    ['[1x', [], 2],
    ['[01', [], 2],
    ['[1}', [], 2],
    ['[1-2]', [], 2],
    ['[.5]', [], 1],
    ['[+1]', [], 1],
    ['[NaN]', [], 1],
    ['[1,]', [1], 3],
    ['[,', [], 1],
    ['{"a":1,}', { a: 1 }, 7],
    ['{a', {}, 1],
    ["{'a", {}, 1],
    ['{"a" 1', {}, 5],
    ['{"a":tx', {}, 6],
    ['{"a":"b\n', { a: 'b' }, 7],
    ['{"a":"b\\x', { a: 'b' }, 8],
    ['{"a":"b\\u00g', { a: 'b' }, 11],
    ['{}}', {}, 2],
    ['[] []', [], 3],
    ['"a" b', 'a', 4],
    ['12x', 12, 2],
    ['truex', true, 4],
  ]
  for (const [text, value, at] of FAILS) {
    it(`${JSON.stringify(text)} keeps its last reading`, () => {
      expect(read(text)).toEqual({ value, complete: false, error: { code: 'syntax', at } })
      expect(read(`${text}]}" 1,{`)).toEqual({ value, complete: false, error: { code: 'syntax', at } })
    })
  }

  it('stops at the depth that limits allow', () => {
    expect(read('[[[1]]]', { jsonDepth: 3 })).toMatchObject({ value: [[[1]]], error: undefined })
    expect(read('[[[1,{}]]]', { jsonDepth: 3 })).toEqual({ value: [[[1]]], complete: false, error: { code: 'too-deep', at: 5 } })
    const deep = new PartialJson()
    deep.append('['.repeat(100_000))
    expect(deep.error).toEqual({ code: 'too-deep', at: 200 })
  })

  it('stops at the length of a number that limits allow', () => {
    expect(read('[123]', { numberLength: 3 })).toMatchObject({ value: [123], error: undefined })
    expect(read('[1234]', { numberLength: 3 })).toEqual({ value: [], complete: false, error: { code: 'number-too-long', at: 4 } })
    expect(read('12.5', { numberLength: 3 })).toEqual({ value: 12, complete: false, error: { code: 'number-too-long', at: 3 } })
  })
})

it('keys of every name are data', () => {
  const { value } = read('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":"x"')
  expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor', 'toString'])
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
})

it('a text that nobody reads is not parsed', () => {
  const json = new PartialJson()
  json.append('[')
  json.append('x')
  // No way to see it but that nothing happened: the error comes with the first look.
  expect(json.error).toEqual({ code: 'syntax', at: 1 })
})
