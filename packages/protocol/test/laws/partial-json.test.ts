/** The laws of partial JSON: cut anywhere, every beginning reads as a beginning, equal to JSON.parse, shared, no throw. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PartialJson } from '../../src/index.ts'

/** JSON texts as models write them: white space, escapes of every kind, keys that come twice and `__proto__`. */
const space = fc.constantFrom('', '', '', ' ', '\n', '\t\r ')
const unit = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 3, unit: 'binary' }).map((text) => JSON.stringify(text).slice(1, -1)) },
  fc.constantFrom('\\n', '\\"', '\\\\', '\\/', '\\u0041', '\\ud83d\\udc4b', '\\ud83d', '\\uDC4b', '👋', 'é', '\ud83d', '\udc4b'),
)
const string = fc.array(unit, { maxLength: 3 }).map((units) => `"${units.join('')}"`)
const number = fc.oneof(fc.integer().map(String), fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)), fc.constantFrom('-0', '0.50', '1E+2', '1e-7', '12e400', '-0.0e0'))
const key = fc.oneof(fc.constantFrom('"a"', '"b"', '"\\u0061"', '"__proto__"', '"0"', '""'), string)

function jsonText(keys: (arbitrary: fc.Arbitrary<string>) => fc.Arbitrary<string[]>): fc.Arbitrary<string> {
  return fc.letrec<{ value: string }>((tie) => {
    const padded = fc.tuple(space, tie('value'), space).map((parts) => parts.join(''))
    return {
      value: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        fc.oneof(string, number, fc.constantFrom('true', 'false', 'null')),
        fc.tuple(space, fc.array(padded, { maxLength: 4 })).map(([empty, items]) => `[${items.length === 0 ? empty : items.join(',')}]`),
        fc.tuple(space, keys(key), fc.array(fc.tuple(padded, space), { minLength: 4, maxLength: 4 })).map(
          ([empty, names, values]) => `{${names.length === 0 ? empty : names.map((name, index) => `${values[index]?.[1]}${name}${values[index]?.[1]}:${values[index]?.[0]}`).join(',')}}`,
        ),
      ),
    }
  }).value
}

/** Any keys; and keys of which none comes twice in an object. */
const anyText = fc.tuple(space, jsonText((one) => fc.array(one, { maxLength: 4 })), space).map((parts) => parts.join(''))
const uniqueText = fc.tuple(space, jsonText((one) => fc.uniqueArray(one, { maxLength: 4, selector: (name) => JSON.parse(name) as string })), space).map((parts) => parts.join(''))

/** Valid texts, broken ones, and any characters that JSON is made of. */
const brokenText = fc.oneof(
  fc.tuple(anyText, fc.nat(), fc.nat(3), fc.constantFrom('', '"', '}', ']', ',', ':', '\\', '\n', '0', '-', '{', 'x')).map(([text, at, drop, put]) => {
    const place = at % (text.length + 1)
    return text.slice(0, place) + put + text.slice(place + drop)
  }),
  fc.string({ maxLength: 12, unit: fc.constantFrom(...'{}[],:"\\/u09-+.eEtrufalsn \n\ud83d\udc4b') }),
  fc.string({ unit: 'binary' }),
)
const pieces = fc.array(fc.nat(), { maxLength: 8 })

function split(text: string, places: readonly number[]): string[] {
  const at = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b)
  return [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length))
}

function reader(text: string): PartialJson {
  const json = new PartialJson()
  json.append(text)
  return json
}

const seen = ({ value, complete, error }: PartialJson): unknown => ({ value, complete, error })

/** The reading of a beginning of valid JSON, made the slow way: cut back to what can be closed, close it, parse it. */
function oracle(text: string): unknown {
  for (let end = text.length; end >= 0; end--) {
    const closed = close(text.slice(0, end), /^[\s,\]}]/.test(text.slice(end)))
    if (closed === undefined) continue
    try {
      return JSON.parse(closed)
    } catch {
      // Something that is not whole stands at the end: one less.
    }
  }
  return undefined
}

function close(text: string, ended: boolean): string | undefined {
  const open: string[] = []
  let string = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string
    if (string) {
      if (char === '\\') at++
      else if (char === '"') string = false
    } else if (char === '"') string = true
    else if (char === '{') open.push('}')
    else if (char === '[') open.push(']')
    else if (char === '}' || char === ']') open.pop()
  }
  // A number that may go on is no number yet, and half of a pair no character.
  if (open.length > 0 && !string && !ended && /[0-9]$/.test(text)) return undefined
  const whole = string ? text.replace(HALF, '') : text
  return whole + (string ? '"' : '') + open.reverse().join('')
}

/** The first half of a surrogate pair at the end of an open string, as it is or escaped. */
const HALF = /[\ud800-\udbff]$|(?<=(?:^|[^\\])(?:\\\\)*)\\u[dD][89abAB][0-9a-fA-F]{2}$/

/** `a` is a beginning of `b`: what reading more of a text may make of a value. */
function begins(a: unknown, b: unknown): boolean {
  if (a === undefined) return true
  if (typeof a === 'string') return typeof b === 'string' && b.startsWith(a)
  if (typeof a !== 'object' || a === null) return Object.is(a, b)
  if (typeof b !== 'object' || b === null || Array.isArray(a) !== Array.isArray(b)) return false
  return Object.keys(a).every((name) => Object.hasOwn(b, name) && begins((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]))
}

const topNumber = (text: string): boolean => /^\s*[-0-9]/.test(text)

describe('partial JSON', () => {
  it('in pieces as in one: value, completeness and error depend on the text alone', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, brokenText), pieces, fc.boolean(), (text, places, looks) => {
        const json = new PartialJson()
        for (const piece of split(text, places)) {
          json.append(piece)
          if (looks) void json.value
        }
        expect(seen(json)).toEqual(seen(reader(text)))
      }),
      { numRuns: 3_000 },
    )
  })

  it('every beginning reads as what can be closed of it', () => {
    fc.assert(
      fc.property(anyText, fc.nat(), (text, at) => {
        const start = text.slice(0, at % (text.length + 1))
        const { value, error } = reader(start)
        expect(value).toEqual(oracle(start))
        expect(error).toBeUndefined()
      }),
      { numRuns: 5_000 },
    )
  })

  it('every reading is a beginning of the next and of the whole', () => {
    fc.assert(
      fc.property(uniqueText, (text) => {
        if (topNumber(text)) return
        const json = new PartialJson()
        let before: unknown
        for (let at = 0; at < text.length; at++) {
          json.append(text.charAt(at))
          expect(begins(before, json.value)).toBe(true)
          before = json.value
        }
        expect(before).toEqual(JSON.parse(text))
      }),
      { numRuns: 2_000 },
    )
  })

  it('a complete text reads as JSON.parse reads it, keys in the same order', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.json(), fc.json({ depthSize: 'large', stringUnit: 'binary' })), (text) => {
        const { value, complete, error } = reader(text)
        const wanted: unknown = JSON.parse(text)
        expect(value).toEqual(wanted)
        expect(JSON.stringify(value)).toBe(JSON.stringify(wanted))
        expect({ complete, error }).toEqual({ complete: true, error: undefined })
      }),
      { numRuns: 3_000 },
    )
  })

  it('complete means what JSON.parse accepts, and an error comes where no JSON goes on', () => {
    fc.assert(
      fc.property(brokenText, (text) => {
        const { value, complete, error } = reader(text)
        let valid = true
        try {
          JSON.parse(text)
        } catch {
          valid = false
        }
        expect(complete).toBe(valid)
        if (error === undefined) return
        const good = reader(text.slice(0, error.at))
        expect(good.error).toBeUndefined()
        expect(value).toEqual(good.value)
        expect(reader(text.slice(0, error.at + 1)).error).toEqual(error)
      }),
      { numRuns: 5_000 },
    )
  })

  it('a reading never changes, and is the same value while nothing is added to it', () => {
    fc.assert(
      fc.property(uniqueText, (text) => {
        const json = new PartialJson()
        const taken: [unknown, string | undefined][] = []
        for (let at = 0; at < text.length; at++) {
          json.append(text.charAt(at))
          const value = json.value
          const [before, shown] = taken.at(-1) ?? [undefined, undefined]
          if (JSON.stringify(value) === shown) expect(value).toBe(before)
          taken.push([value, JSON.stringify(value)])
        }
        for (const [value, shown] of taken) expect(JSON.stringify(value)).toBe(shown)
      }),
      { numRuns: 500 },
    )
  })

  it('what is closed keeps its identity from then on', () => {
    fc.assert(
      fc.property(uniqueText, uniqueText, fc.nat(), (first, second, at) => {
        const json = reader(`[${first},`)
        const [before] = json.value as [unknown]
        json.append(second.slice(0, at % (second.length + 1)))
        expect((json.value as unknown[])[0]).toBe(before)
        expect((json.value as unknown[])[0]).toBe((json.value as unknown[])[0])
      }),
    )
  })
})
