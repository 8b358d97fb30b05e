/** A chat over a connection that has subscribe() and send() of its own. */
import { ChatClient, type ChatClientOptions, type StreamChunk, type SubscribeConnectionAdapter } from '@millrace/client'

/** A shared channel: the test says what comes, and when. */
export function channel(options: Partial<ChatClientOptions> = {}, offered: Partial<SubscribeConnectionAdapter> = {}) {
  const subscribers = new Set<{ push(chunk: StreamChunk): void; end(why?: Error): void }>()
  const sent: string[] = []
  let answer: (runId: string) => Promise<void> | void = () => {}
  const connection: SubscribeConnectionAdapter = {
    async *subscribe(signal) {
      const queue: (StreamChunk | Error | undefined)[] = []
      let wake: (() => void) | undefined
      const put = (chunk?: StreamChunk | Error): void => {
        queue.push(chunk)
        wake?.()
      }
      const me = { push: put, end: put }
      subscribers.add(me)
      signal?.addEventListener('abort', () => put(), { once: true })
      try {
        for (;;) {
          while (queue.length > 0) {
            const chunk = queue.shift()
            if (chunk === undefined) return
            if (chunk instanceof Error) throw chunk
            yield chunk
          }
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      } finally {
        subscribers.delete(me)
      }
    },
    async send(_messages, _data, _signal, runContext) {
      sent.push(runContext?.runId ?? '')
      await answer(runContext?.runId ?? '')
    },
    ...offered,
  }
  let id = 0
  const chat = new ChatClient({ connection, generateId: (kind) => `${kind}-${++id}`, ...options })
  return {
    chat,
    sent,
    emit: (...chunks: StreamChunk[]) => chunks.forEach((chunk) => subscribers.forEach((each) => each.push(chunk))),
    close: (why?: Error) => subscribers.forEach((each) => each.end(why)),
    connection,
    onSend: (next: typeof answer) => {
      answer = next
    },
    subscribers: () => subscribers.size,
  }
}
