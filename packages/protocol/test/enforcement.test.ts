/**
 * Enforcement against the published schemas of AG-UI 1.0 (`@ag-ui/core/schemas`) as an oracle: what they accept we leave
 * alone, what they refuse we refuse or, where the specification says so, repair; what we give they accept.
 */
import { EventSchema, RunAgentInputSchema } from '@ag-ui/core/schemas'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Reporter, type Diagnostic } from '../src/diagnostics.ts'
import { anyEvent as shapes } from '../src/events/catalogue.ts'
import { EventParser } from '../src/events/parse.ts'
import { parseRunAgentInput } from '../src/events/parse-run-input.ts'
import { runAgentInput } from '../src/events/run-input.ts'
import { oldSpellings, ProtocolError, type Event } from '../src/index.ts'
import { DEFAULT_LIMITS } from '../src/limits.ts'
import { json, ofShape } from './shaped-arbitraries.ts'

type Verdict = { readonly kind: 'same' | 'repaired' | 'dropped'; readonly event: Event | undefined; readonly rules: string[] } | { readonly kind: 'refused'; readonly pointer: string | undefined }

function ours(raw: unknown): Verdict {
  const rules: string[] = []
  // A version nobody knows is worth a word and changes nothing.
  const note = ({ rule }: Diagnostic): unknown => rule !== 'run.version' && rules.push(rule)
  try {
    const event = new EventParser(new Reporter((found) => void note(found)), DEFAULT_LIMITS, oldSpellings).parse(raw)
    return { kind: event === undefined ? 'dropped' : rules.length === 0 ? 'same' : 'repaired', event, rules }
  } catch (error) {
    expect(error).toBeInstanceOf(ProtocolError)
    return { kind: 'refused', pointer: (error as ProtocolError).pointer }
  }
}

const theirs = (raw: unknown): boolean => EventSchema.safeParse(raw).success

const event = fc.boolean().chain((full) => ofShape(shapes, full)) as fc.Arbitrary<Record<string, unknown>>

/** One place in a value: the way there, and what to do with it. */
const bend = fc.tuple(
  fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
  fc.constantFrom('drop', 'set', 'add'),
  fc.oneof(json, fc.constantFrom(null, '', 'ghost', 1.5, -1, 2 ** 53, [], {}, true)),
)

/** A copy with one member of it, at any depth, taken out, changed or added. */
function bent(value: Record<string, unknown>, [way, how, by]: readonly [readonly number[], string, unknown]): Record<string, unknown> {
  const copy = structuredClone(value)
  let place: unknown = copy
  for (const [step, number] of way.entries()) {
    if (typeof place !== 'object' || place === null) break
    const keys = Object.keys(place)
    const key = keys[number % (keys.length || 1)]
    const last = step === way.length - 1 || key === undefined || typeof (place as Record<string, unknown>)[key] !== 'object'
    if (last) {
      if (how === 'add' && !Array.isArray(place)) Object.defineProperty(place, 'mood', { value: by, enumerable: true, configurable: true, writable: true })
      else if (key !== undefined && how === 'drop' && !Array.isArray(place)) delete (place as Record<string, unknown>)[key]
      else if (key !== undefined) Object.defineProperty(place, key, { value: by, enumerable: true, configurable: true, writable: true })
      break
    }
    place = (place as Record<string, unknown>)[key]
  }
  return copy
}

describe('enforcement, against the published schemas', () => {
  it('a well-formed event is well formed to both, and is left as it is', () => {
    fc.assert(
      fc.property(event, (raw) => {
        expect(theirs(raw)).toBe(true)
        const verdict = ours(raw)
        expect(verdict.kind).toBe('same')
        expect((verdict as { event: unknown }).event).toBe(raw)
      }),
      { numRuns: 2_000 },
    )
  })

  it('a bent event: what we take as it is they take, what they take we do not refuse, what we give they take', () => {
    fc.assert(
      fc.property(event, bend, (raw, how) => {
        const value = bent(raw, how)
        const verdict = ours(value)
        if (verdict.kind === 'same') expect(theirs(value), JSON.stringify(value)).toBe(true)
        // They let unknown members pass or strip them; we strip them and say so. Neither refuses.
        if (theirs(value)) expect(verdict.kind, JSON.stringify([value, verdict])).not.toBe('refused')
        if (verdict.kind === 'repaired') expect(theirs(verdict.event), JSON.stringify(value)).toBe(true)
      }),
      { numRuns: 10_000 },
    )
  })

  it('run inputs likewise', () => {
    const input = fc.boolean().chain((full) => ofShape(runAgentInput, full)) as fc.Arbitrary<Record<string, unknown>>
    fc.assert(
      fc.property(input, bend, (raw, how) => {
        expect(RunAgentInputSchema.safeParse(raw).success).toBe(true)
        expect(parseRunAgentInput(raw)).toEqual({ tools: [], context: [], ...raw })
        const value = bent(raw, how)
        let given: unknown
        try {
          given = parseRunAgentInput(value)
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError)
          expect(RunAgentInputSchema.safeParse(value).success, JSON.stringify(value)).toBe(false)
          return
        }
        expect(RunAgentInputSchema.safeParse(given).success, JSON.stringify(value)).toBe(true)
      }),
      { numRuns: 3_000 },
    )
  })
})
