/** Law 8: any bytes give a typed error or a good end; nothing else escapes, and no promise is left hanging. */
import { AgentError, ChatClient, fetchHttpStream, fetchServerSentEvents, readThread, TransportError } from '@millrace/client'
import { ProtocolError } from '@millrace/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { hello, ndjson, sse } from '../../test/events.ts'

const event = fc.oneof(
  fc.constantFrom<unknown>(...hello(), null, 5, 'x', [], {}, { type: 7 }, { type: '' }, { type: 'RUN_FINISHED' }, { type: 'RUN_ERROR' }, { type: 'RUN_ERROR', message: 'm' }),
  fc.constantFrom<unknown>(...hello('r2'), { type: '__proto__' }, { type: 'constructor' }, { type: 'CUSTOM', name: 'n', value: {} }),
  fc.jsonValue(),
)
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.string({ maxLength: 200 }).map((text) => new TextEncoder().encode(text)),
  fc.tuple(fc.array(event, { maxLength: 12 }), fc.boolean(), fc.nat(20)).map(([events, lines, cut]) => {
    const text = lines ? ndjson(events) : sse(events)
    return new TextEncoder().encode(text.slice(0, Math.max(0, text.length - cut)))
  }),
)

const typed = (error: unknown): boolean =>
  error instanceof ProtocolError || error instanceof TransportError || error instanceof AgentError

const FAILED = ['error', 'truncated', 'violation', 'malformed']

it.each([
  ['fetchServerSentEvents', fetchServerSentEvents],
  ['fetchHttpStream', fetchHttpStream],
])('ChatClient over %s', async (_, factory) => {
  await fc.assert(
    fc.asyncProperty(bytes, fc.nat(7), async (body, size) => {
      const fetchClient = async (): Promise<Response> =>
        new Response(
          new ReadableStream({
            start(sink) {
              const step = size + 1
              for (let at = 0; at < body.length; at += step) sink.enqueue(body.subarray(at, at + step))
              sink.close()
            },
          }),
        )
      const chat = new ChatClient({ connection: factory('/x', { fetchClient, reconnect: { delayMs: 0 } }) })
      const { outcome, error } = await chat.sendMessage('Hi')
      expect(FAILED.includes(outcome)).toBe(error !== undefined)
      if (error !== undefined) expect(typed(error)).toBe(true)
      const { status, messages, runs } = chat.getSnapshot()
      expect(status).toBe(error === undefined ? 'ready' : 'error')
      expect(messages[0]?.role).toBe('user')
      expect(runs.at(-1)?.outcome).toBe(outcome)
    }),
  )
})

it('readThread', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 12 }), async (events) => {
      try {
        for await (const thread of readThread(events)) void thread
      } catch (error) {
        expect(typed(error) || typeof events[0] === 'string').toBe(true)
      }
    }),
  )
})
