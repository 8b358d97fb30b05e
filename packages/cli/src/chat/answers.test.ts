import type { Interrupt } from '@millrace/protocol'
import { expect, it } from 'vitest'
import { answerHint, answerOf, refusal } from './answers.ts'

const ask = (responseSchema?: Record<string, unknown>): Interrupt => ({ id: 'i', reason: 'ask', ...(responseSchema && { responseSchema }) })
const approval = { type: 'object', properties: { approved: { type: 'boolean' }, note: { type: 'string' } } }
const two = { type: 'object', properties: { a: { type: 'boolean' }, b: { type: 'boolean' } } }

it.each<[string, string, Interrupt, unknown]>([
  ['yes without a schema', 'y', ask(), { approved: true }],
  ['no for the boolean of an object', ' No ', ask(approval), { approved: false }],
  ['yes for a bare boolean', 'yes', ask({ type: 'boolean' }), true],
  ['y where two booleans could be meant', 'y', ask(two), 'y'],
  ['a text where a text is asked for', '42', ask({ type: 'string' }), '42'],
  ['JSON', '{"approved":true,"note":"ok"}', ask(approval), { approved: true, note: 'ok' }],
  ['a text', 'maybe later', ask(), 'maybe later'],
])('%s', (_name, line, interrupt, payload) => {
  expect(answerOf(line, interrupt)).toEqual({ status: 'resolved', payload })
})

it('an empty line cancels', () => {
  expect(answerOf('  ', ask())).toEqual({ status: 'cancelled' })
})

it('knows what the agent would refuse, but not what it has not said', () => {
  expect(refusal(answerOf('maybe', ask(approval)), ask(approval))).toBe('"" has to be of type object')
  for (const [line, interrupt] of [['y', ask(approval)], ['', ask(approval)], ['maybe', ask()]] as const) expect(refusal(answerOf(line, interrupt), interrupt)).toBeUndefined()
})

it('says how to answer', () => {
  expect(answerHint(ask(approval))).toBe('y or n, JSON or a text; empty to cancel')
  expect(answerHint(ask({ type: 'string' }))).toBe('a text; empty to cancel')
})
