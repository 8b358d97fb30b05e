/** However a value is cut, and whenever somebody looks, what shows is the reading of the text that has come. */
import { PartialJson, ThreadBuilder, toUIMessages, type StructuredOutputPart, type UIMessage, type VerifiedEvent } from '@millrace/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Outputs } from './outputs.ts'

const anything = { '~standard': { version: 1, vendor: 'x', validate: (value: unknown) => ({ value }) } } as const

function readingOf(text: string): unknown {
  const json = new PartialJson()
  json.append(text)
  return json.value
}

/** Looks at a builder, and says what is wrong with what shows. */
function look(outputs: Outputs, builder: ThreadBuilder): readonly UIMessage[] {
  const thread = builder.snapshot()
  const messages = toUIMessages(thread.messages)
  const shown = outputs.show(messages, builder, thread)
  expect(outputs.show(messages, builder, thread)).toBe(shown)
  thread.messages.forEach((message, index) => {
    const part = shown[index]?.parts[0] as StructuredOutputPart | undefined
    if (part?.type !== 'structured-output') return
    expect(part.raw).toBe(message.content)
    expect(part.partial).toEqual(readingOf(part.raw))
  })
  return shown
}

it('is the reading of the text that shows, also while the run is read again beside it', () => {
  fc.assert(
    fc.property(fc.json(), fc.array(fc.nat(7), { maxLength: 20 }), fc.nat(20), fc.array(fc.boolean(), { minLength: 1 }), (text, sizes, again, looks) => {
      const deltas: string[] = []
      let at = 0
      for (const size of [...sizes, text.length]) {
        if (size > 0 && at < text.length) deltas.push(text.slice(at, at + size))
        at += size
      }
      const events: VerifiedEvent[] = [
        { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
        { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' },
        ...deltas.map((delta): VerifiedEvent => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta })),
        { type: 'TEXT_MESSAGE_END', messageId: 'm' },
        { type: 'RUN_FINISHED', threadId: 't', runId: 'r' },
      ]
      const outputs = new Outputs({ schema: () => anything, onChange: () => {} })
      const first = new ThreadBuilder()
      let turn = 0
      const mayLook = (): boolean => looks[turn++ % looks.length] as boolean
      const feed = (builder: ThreadBuilder, some: readonly VerifiedEvent[], shown: ThreadBuilder): void => {
        for (const event of some) {
          builder.apply(event)
          outputs.take(builder, event)
          if (mayLook()) look(outputs, shown)
        }
      }
      const cut = Math.min(again, events.length)
      feed(first, events.slice(0, cut), first)
      const second = new ThreadBuilder()
      outputs.branch(first, second)
      feed(second, events.slice(0, cut), first)
      feed(second, events.slice(cut), second)
      const [message] = look(outputs, second)
      expect(message?.parts).toEqual([{ type: 'structured-output', status: 'complete', raw: text, partial: JSON.parse(text), data: JSON.parse(text), origin: { messageId: 'm' } }])
    }),
    { numRuns: 1000 },
  )
})
