// The public JSON Patch corpus (conformance/json-patch), by the way a patch takes: enforcement of the event, then the fold.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { applyPatch, JsonPatchError, ProtocolError, ThreadReader, type Diagnostic, type JsonPatch } from '../index.ts'

interface Record {
  readonly comment?: string
  readonly doc: unknown
  readonly patch?: JsonPatch
  readonly expected?: unknown
  readonly error?: string
  readonly disabled?: boolean
}

/** Records whose patch is no JSON Patch: enforcement refuses the event, at this pointer. */
const MALFORMED: ReadonlyMap<string, string> = new Map([
  ["missing 'value' parameter to add", '/delta/0/value'],
  ["missing 'value' parameter to replace", '/delta/0/value'],
  ["missing 'value' parameter to test", '/delta/0/value'],
  ['missing value parameter to test - where undef is falsy', '/delta/0/value'],
  ['missing from parameter to copy', '/delta/0/from'],
  ['missing from parameter to move', '/delta/0/from'],
])

/** An unknown union member is removed, not refused (AG-UI 1.0, processing). */
const REMOVED: ReadonlySet<string> = new Set(['unrecognized op should fail'])

/** The suite writes `op` twice in one object; JSON.parse keeps the last, and what is left applies. */
const ONE_OP: ReadonlySet<string> = new Set(['duplicate ops'])

function fold({ doc, patch }: Record): { state: unknown; diagnostics: Diagnostic[]; error: unknown } {
  const diagnostics: Diagnostic[] = []
  const reader = new ThreadReader({ state: doc, onDiagnostic: (diagnostic) => diagnostics.push(diagnostic) })
  let error: unknown
  try {
    reader.accept({ type: 'RUN_STARTED', threadId: 't', runId: 'r' })
    // A document that is null reads as none at the start of a thread, so it is set.
    reader.accept({ type: 'STATE_SNAPSHOT', snapshot: doc })
    reader.accept({ type: 'STATE_DELTA', delta: patch })
  } catch (thrown) {
    error = thrown
  }
  return { state: reader.snapshot().state, diagnostics, error }
}

const unused = new Set([...MALFORMED.keys(), ...REMOVED, ...ONE_OP])

for (const file of ['tests.json', 'spec_tests.json']) {
  const records = JSON.parse(readFileSync(new URL(`../../../../conformance/json-patch/${file}`, import.meta.url), 'utf8')) as Record[]
  describe(file, () => {
    records.forEach((record, index) => {
      const { comment = '', doc, patch, expected, error } = record
      if (patch === undefined) return
      unused.delete(comment)
      it(`${index} ${comment || JSON.stringify(patch)}`, () => {
        const folded = fold(record)
        const pointer = MALFORMED.get(comment)
        if (pointer !== undefined) {
          expect(folded.error).toBeInstanceOf(ProtocolError)
          expect(folded.error).toMatchObject({ code: 'malformed', rule: 'event.malformed', pointer })
          expect(folded.state).toEqual(doc)
        } else if (REMOVED.has(comment)) {
          expect(folded.error).toBeUndefined()
          expect(folded.diagnostics.map(({ rule }) => rule)).toEqual(['event.unknown-member'])
          expect(folded.state).toEqual(doc)
        } else if (error !== undefined && !ONE_OP.has(comment)) {
          expect(folded.error).toBeUndefined()
          expect(folded.diagnostics.map(({ rule }) => rule)).toEqual(['state.patch-failed'])
          expect(folded.state).toEqual(doc)
          expect(() => applyPatch(doc, patch)).toThrow(JsonPatchError)
        } else {
          expect(folded.error).toBeUndefined()
          expect(folded.diagnostics).toEqual([])
          if (expected !== undefined) {
            expect(folded.state).toEqual(expected)
            expect(applyPatch(doc, patch)).toEqual(expected)
          }
        }
      })
    })
  })
}

it('every exception above is one of the corpus', () => expect([...unused]).toEqual([]))
