/**
 * The cases of `conformance/cases` that are about a wire or a run, through connections over real sockets into a chat: whole,
 * and byte by byte. Those about a chat client are in `client-cases.test.ts` and `tools.test.ts`.
 */
import { readFileSync } from 'node:fs'
import { ChatClient, fetchHttpStream, fetchServerSentEvents, xhrServerSentEvents, type ConnectionAdapter } from '@millrace/client'
import { toMessages, toUIMessages, type Message } from '@millrace/protocol'
import { describe, expect, it } from 'vitest'
import { ndjson, sse } from './events.ts'
import { nodeXhr } from './node-xhr.ts'
import { serve, SSE_HEADERS } from './serve.ts'

interface Case {
  readonly id: string
  readonly about: string
  readonly input:
    | { readonly kind: 'events'; readonly events: readonly object[]; readonly history?: Message[] }
    | { readonly kind: 'sse'; readonly text: string }
    | { readonly kind: 'client' }
  readonly expect: { readonly outcome: string; readonly messages?: readonly object[]; readonly state?: unknown; readonly ui?: readonly string[][] }
}

const { cases } = JSON.parse(readFileSync(new URL('../../../conformance/cases/cases.json', import.meta.url), 'utf8')) as { cases: Case[] }

/** In pieces of so many bytes, each written when the one before is out. */
async function played(body: string, size: number, headers: Record<string, string>): Promise<string> {
  const bytes = Buffer.from(body)
  const { url } = await serve(async (response) => {
    response.writeHead(200, headers)
    for (let at = 0; at < bytes.length; at += size) await new Promise((resolve) => response.write(bytes.subarray(at, at + size), resolve))
    response.end()
  })
  return url
}

const TRANSPORTS: readonly [name: string, format: 'sse' | 'ndjson', size: number, connect: (url: string) => ConnectionAdapter][] = [
  ['fetchServerSentEvents, whole', 'sse', Infinity, (url) => fetchServerSentEvents(url)],
  ['fetchServerSentEvents, byte by byte', 'sse', 1, (url) => fetchServerSentEvents(url)],
  ['xhrServerSentEvents, in pieces of 7', 'sse', 7, (url) => xhrServerSentEvents(url, { xhrFactory: nodeXhr })],
  ['fetchHttpStream, in pieces of 7', 'ndjson', 7, (url) => fetchHttpStream(url)],
]

for (const { id, about, input, expect: wanted } of cases) {
  if (input.kind === 'client') continue
  describe(`${id}: ${about}`, () => {
    for (const [name, format, size, connect] of TRANSPORTS) {
      if (input.kind === 'sse' && format === 'ndjson') continue
      it(name, async () => {
        const body = input.kind === 'sse' ? input.text : format === 'sse' ? sse(input.events) : ndjson(input.events)
        const history = input.kind === 'sse' ? [] : (input.history ?? [])
        const connection = connect(await played(body, size, format === 'sse' ? SSE_HEADERS : { 'content-type': 'application/x-ndjson' }))
        const chat = new ChatClient({ connection, mode: 'strict', initialMessages: toUIMessages(history) })
        const { outcome } = await chat.sendMessage({ id: 'sent', content: 'Hi' })
        expect(outcome).toBe(wanted.outcome)
        const { messages, state } = chat.getSnapshot()
        const had = toMessages(messages).filter((message) => message.id !== 'sent')
        if (wanted.messages !== undefined) {
          expect(had).toHaveLength(wanted.messages.length)
          expect(had).toMatchObject(wanted.messages)
        }
        if ('state' in wanted) expect(state).toEqual(wanted.state)
      })
    }
  })
}
