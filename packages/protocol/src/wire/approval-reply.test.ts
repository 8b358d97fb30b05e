/** A decision as the answer to the interrupt that asked for it: by what the schema wants, and back. */
import { describe, expect, it } from 'vitest'
import { approvalReply, decisionIn, type ApprovalDecision, type Interrupt } from '../index.ts'

const asked = (responseSchema?: object, reason = 'tool_call'): Interrupt => ({ id: 'i', reason, toolCallId: 'c', ...(responseSchema !== undefined && { responseSchema: responseSchema as Record<string, unknown> }) })
const reply = (interrupt: Interrupt, decision: unknown): unknown => {
  try {
    return approvalReply(interrupt, decision as ApprovalDecision)
  } catch (error) {
    return (error as { code: string }).code
  }
}

const plain = { type: 'object', properties: { approved: { type: 'boolean' } }, required: ['approved'] }
const editable = { type: 'object', properties: { approved: { type: 'boolean' }, editedArgs: { type: 'object' } }, required: ['approved'] }
const reasoned = { type: 'object', properties: { approved: { type: 'boolean' }, reason: { type: 'string' } }, required: ['approved'] }
const closed = (approved: boolean, more: object = {}): object => ({ type: 'object', properties: { approved: { const: approved }, ...more }, required: ['approved'], additionalProperties: false })
const tanstack = { oneOf: [closed(true, { editedArgs: { type: 'object', properties: { n: { type: 'number' } } } }), closed(false)] }
const withPayload = { oneOf: [{ ...closed(true, { payload: { type: 'string' } }), required: ['approved', 'payload'] }, closed(false)] }

const payload = (value: unknown, metadata?: object): object => ({ status: 'resolved', payload: value, ...(metadata && { metadata }) })

describe('approvalReply', () => {
  it.each<[string, Interrupt, unknown, unknown]>([
    ['no schema', asked(), { approved: true }, payload({ approved: true })],
    ['no schema, and a reason', asked(), { approved: false, reason: 'no' }, payload({ approved: false, reason: 'no' })],
    ['no schema, and edits', asked(), { approved: true, input: { n: 1 } }, payload({ approved: true, editedArgs: { n: 1 } })],
    ['a schema', asked(plain), { approved: false }, payload({ approved: false })],
    ['a reason where there is no place for it', asked(plain), { approved: false, reason: 'no' }, payload({ approved: false }, { reason: 'no' })],
    ['a reason where there is one', asked(reasoned), { approved: true, reason: 'ok' }, payload({ approved: true, reason: 'ok' })],
    ['edits where they are taken', asked(editable), { approved: true, input: { n: 1 } }, payload({ approved: true, editedArgs: { n: 1 } })],
    ['edits where they are not', asked(plain), { approved: true, input: { n: 1 } }, 'malformed-answer'],
    ['edits that are not what the schema says', asked(editable), { approved: true, input: 'x' }, 'malformed-answer'],
    ['a boolean', asked({ type: 'boolean' }), { approved: false }, payload(false)],
    ['a boolean, and a reason', asked({ type: 'boolean' }), { approved: true, reason: 'ok' }, payload(true, { reason: 'ok' })],
    ['a boolean, and edits', asked({ type: 'boolean' }), { approved: true, input: {} }, 'malformed-answer'],
    ['a confirmation', asked(undefined, 'confirmation'), { approved: true }, payload(true)],
    ['TanStack AI', asked(tanstack), { approved: true, input: { n: 2 } }, payload({ approved: true, editedArgs: { n: 2 } })],
    ['TanStack AI, wrong edits', asked(tanstack), { approved: true, input: { n: 'x' } }, 'malformed-answer'],
    ['TanStack AI, no', asked(tanstack), { approved: false, reason: 'no' }, payload({ approved: false }, { reason: 'no' })],
    ['more is asked for than a decision', asked(withPayload), { approved: true }, 'malformed-answer'],
    ['more is asked for, but not with a no', asked(withPayload), { approved: false }, payload({ approved: false })],
    ['another language', asked({ type: 'object', properties: { type: { enum: ['accept', 'reject'] } }, required: ['type'] }), { approved: true }, 'malformed-answer'],
    ['a schema elsewhere', asked({ $ref: '#/defs/x' }), { approved: true, input: {} }, payload({ approved: true, editedArgs: {} })],
    ['null', asked(), null, 'malformed-answer'],
    ['no decision', asked(), {}, 'malformed-answer'],
    ['a word', asked(), { approved: 'yes' }, 'malformed-answer'],
    ['edits of what does not run', asked(), { approved: false, input: {} }, 'malformed-answer'],
    ['a reason that is no text', asked(), { approved: false, reason: 5 }, 'malformed-answer'],
  ])('%s', (_, interrupt, decision, expected) => {
    expect(reply(interrupt, decision)).toEqual(expected)
  })

  it('names the place of what is refused', () => {
    expect(() => approvalReply(asked(tanstack), { approved: true, input: { n: 'x' } })).toThrow('"/editedArgs/n" has to be of type number')
  })
})

it.each<[object, unknown]>([
  [{ status: 'resolved', payload: { approved: true, editedArgs: { n: 1 } } }, { approved: true, input: { n: 1 } }],
  [{ status: 'resolved', payload: { approved: false, editedArgs: { n: 1 } } }, { approved: false }],
  [{ status: 'resolved', payload: true }, { approved: true }],
  [{ status: 'cancelled' }, { approved: false }],
  [{ status: 'resolved', payload: 'yes' }, undefined],
  [{ status: 'resolved', payload: { approved: 'yes' } }, undefined],
  [{ status: 'resolved' }, undefined],
])('decisionIn(%j) is %j', (entry, decision) => {
  expect(decisionIn(entry as never)).toEqual(decision)
})
