/** Law 5: AG-UI messages → UI messages → wire is the identity on what the wire can carry. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reportMode, ThreadReader, toMessages, toUIMessages, uiMessagesToWire, wireToUiMessages, type Message, type UIMessage, type WireMessage } from '../../src/index.ts'
import { anyEvents, message } from '../arbitraries.ts'

/**
 * The normal form of a history: what two spellings of it share. An empty text is absent, a single bare text part is a
 * string, an assistant message without content is none, and a result stands behind its call, once.
 */
function normal(messages: readonly Message[]): Message[] {
  const tidy = messages.flatMap((one): Message[] => {
    if (one.role === 'assistant') {
      const { content, toolCalls, ...rest } = one
      if ((content ?? '') === '' && (toolCalls ?? []).length === 0) return []
      return [{ ...rest, ...((content ?? '') !== '' && { content: content as string }), ...(toolCalls?.length && { toolCalls }) }]
    }
    if (one.role === 'user' && Array.isArray(one.content)) {
      const [part] = one.content
      if (one.content.length === 0) return [{ ...one, content: '' }]
      if (one.content.length === 1 && part?.type === 'text' && part.id === undefined && part.metadata === undefined) return [{ ...one, content: part.text }]
    }
    return [one]
  })
  return tidy
}

/** Histories as a fold makes them: unique ids, results right behind their call. */
function history(events: Parameters<typeof fold>[0]): readonly Message[] {
  return fold(events).filter(({ role }, index, all) => role !== 'tool' || behindItsCall(all, index))
}

function behindItsCall(all: readonly Message[], index: number): boolean {
  const result = all[index] as Extract<Message, { role: 'tool' }>
  for (let before = index - 1; before >= 0; before--) {
    const other = all[before] as Message
    if (other.role === 'tool') {
      if (other.toolCallId === result.toolCallId) return false
      continue
    }
    return other.role === 'assistant' && (other.toolCalls ?? []).some(({ id }) => id === result.toolCallId) && callOrder(other, all, before, index)
  }
  return false
}

/** Results stand in the order of their calls. */
function callOrder(host: Extract<Message, { role: 'assistant' }>, all: readonly Message[], from: number, to: number): boolean {
  const order = (host.toolCalls ?? []).map(({ id }) => id)
  const places = all.slice(from + 1, to + 1).map((one) => order.indexOf((one as { toolCallId: string }).toolCallId))
  return places.every((place, index) => place !== -1 && (index === 0 || place > (places[index - 1] as number)))
}

function fold(events: readonly unknown[]): readonly Message[] {
  const reader = new ThreadReader({ mode: reportMode })
  for (const event of events) reader.accept(event)
  return reader.snapshot().messages
}

/** No call id twice in a history: a result could not tell which it answers. */
function callsUnique(messages: readonly Message[]): boolean {
  const ids = messages.flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []).map(({ id }) => id) : []))
  return new Set(ids).size === ids.length
}

describe('law 5, inverse', () => {
  it('a folded history comes back from its UI messages', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const messages = history(events)
        if (!callsUnique(messages)) return
        expect(normal(toMessages(toUIMessages(messages)))).toEqual(normal(messages))
      }),
      { numRuns: 2_000 },
    )
  })

  it('and so do the UI messages of what was sent', () => {
    fc.assert(
      fc.property(fc.uniqueArray(message as fc.Arbitrary<Message>, { selector: ({ id }) => id, maxLength: 3 }), (messages) => {
        const sane = normal(messages.filter(({ role }) => role !== 'tool' && role !== 'activity'))
        if (!callsUnique(sane)) return
        const ui = toUIMessages(sane)
        const again = toUIMessages(uiMessagesToWire(ui))
        expect(again).toEqual(ui)
      }),
      { numRuns: 2_000 },
    )
  })

  it('survives storage as JSON', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const messages = history(events)
        if (!callsUnique(messages)) return
        const stored = JSON.parse(JSON.stringify(toUIMessages(messages))) as UIMessage[]
        expect(normal(toMessages(stored))).toEqual(normal(messages))
      }),
    )
  })

  it('with the parts beside it, the wire gives back the UI messages themselves', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const messages = history(events)
        if (!callsUnique(messages)) return
        const ui = toUIMessages(normal(messages)).filter(({ role, parts }) => role !== 'assistant' || parts.some(isSaid))
        const wire = JSON.parse(JSON.stringify(uiMessagesToWire(ui, { wire: 'parts' }))) as WireMessage[]
        expect(wireToUiMessages(wire)).toEqual(JSON.parse(JSON.stringify(ui)))
      }),
      { numRuns: 2_000 },
    )
  })

  it('without, it reads as the view does', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const messages = history(events)
        expect(wireToUiMessages(messages)).toEqual(toUIMessages(messages))
      }),
    )
  })
})

/** Only what becomes part of an assistant message can carry the parts of a turn. */
function isSaid({ type }: UIMessage['parts'][number]): boolean {
  return type === 'text' || type === 'tool-call'
}
