/** The shared state: what replaces it, what patches it, and which baseline a delta has where the state is null. */
import { describe, expect, it } from 'vitest'
import { compact, ThreadBuilder, ThreadReader, type Event, type VerifiedEvent } from '../index.ts'

const run = (runId: string, ...events: object[]): object[] => [{ type: 'RUN_STARTED', threadId: 't', runId }, ...events, { type: 'RUN_FINISHED', threadId: 't', runId }]
const set = (snapshot: unknown): object => ({ type: 'STATE_SNAPSHOT', snapshot })
const patch = (...delta: object[]): object => ({ type: 'STATE_DELTA', delta })
const addA = patch({ op: 'add', path: '/a', value: 1 })

function fold(events: readonly object[], state?: unknown): { state: unknown; rules: string[] } {
  const rules: string[] = []
  const verified: VerifiedEvent[] = []
  const reader = new ThreadReader({ ...(state !== undefined && { state }), onDiagnostic: ({ rule }) => rules.push(rule), onEvent: (event) => verified.push(event) })
  for (const event of events as Event[]) reader.accept(event)
  const folded = reader.snapshot().state
  // However short the log of it is.
  const again = new ThreadBuilder(state === undefined ? {} : { state })
  for (const event of compact(verified)) again.apply(event)
  expect(again.snapshot().state).toEqual(folded)
  return { state: folded, rules }
}

describe('the shared state', () => {
  it.each<[string, unknown, object[], unknown, string[]]>([
    ['is {} in the beginning', undefined, run('1'), {}, []],
    ['is what was held before', { n: 1 }, run('1'), { n: 1 }, []],
    ['is replaced whole', { n: 1 }, run('1', set([1])), [1], []],
    ['is replaced by what is falsy', { n: 1 }, run('1', set(0)), 0, []],
    ['is replaced by null', { n: 1 }, run('1', set(null)), null, []],
    ['is patched from {}', undefined, run('1', addA), { a: 1 }, []],
    ['is patched over runs', undefined, [...run('1', addA), ...run('2', patch({ op: 'add', path: '/b', value: 2 }))], { a: 1, b: 2 }, []],
    ['stays as it was if one operation fails', { n: 1 }, run('1', patch({ op: 'replace', path: '/n', value: 2 }, { op: 'remove', path: '/ghost' })), { n: 1 }, ['state.patch-failed']],
    ['stays as it was if a test fails', { n: 1 }, run('1', patch({ op: 'test', path: '/n', value: 2 }, { op: 'remove', path: '/n' })), { n: 1 }, ['state.patch-failed']],
    ['takes the next snapshot after a failure', undefined, run('1', patch({ op: 'remove', path: '/ghost' }), set({ a: 1 })), { a: 1 }, ['state.patch-failed']],
  ])('%s', (_, held, events, state, rules) => {
    expect(fold(events, held)).toEqual({ state, rules })
  })
})

// Section 12, row 9: an input cannot carry null, so the producer of the next run reads {} where its consumer holds null.
describe('a state that is null', () => {
  it.each<[string, unknown, object[], unknown, string[]]>([
    ['is null to the deltas of the run that said so', undefined, run('1', set(null), addA), null, ['state.patch-failed']],
    ['is {} to those of the next', undefined, [...run('1', set(null)), ...run('2', addA)], { a: 1 }, ['state.null-baseline']],
    ['and told once', undefined, [...run('1', set(null)), ...run('2', addA, patch({ op: 'replace', path: '/a', value: 2 }))], { a: 2 }, ['state.null-baseline']],
    ['likewise if it was given in the beginning', null, run('1', addA), { a: 1 }, ['state.null-baseline']],
    ['is null as long as a delta applies to it', null, run('1', patch({ op: 'test', path: '', value: null }, { op: 'replace', path: '', value: 5 })), 5, []],
    ['stays null without deltas', null, [...run('1'), ...run('2')], null, []],
    ['stays null if a delta applies to neither', null, run('1', patch({ op: 'remove', path: '/ghost' })), null, ['state.patch-failed']],
    ['is asked again after such a delta', null, run('1', patch({ op: 'remove', path: '/ghost' }), addA), { a: 1 }, ['state.patch-failed', 'state.null-baseline']],
    ['is the producer’s word once it says so', null, run('1', set(null), addA), null, ['state.patch-failed']],
  ])('%s', (_, held, events, state, rules) => {
    expect(fold(events, held)).toEqual({ state, rules })
  })
})
