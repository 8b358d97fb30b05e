/** Events of small runs, as plain JSON. Runs in browsers too. */
import type { StreamChunk } from '@millrace/client'

export const started = (runId = 'r1', threadId = 't1') => ({ type: 'RUN_STARTED', threadId, runId }) as const
export const finished = (runId = 'r1', threadId = 't1') => ({ type: 'RUN_FINISHED', threadId, runId }) as const
export const failed = (message = 'no') => ({ type: 'RUN_ERROR', message }) as const

export function text(content: string, messageId = 'm1'): StreamChunk[] {
  return [
    { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
    ...[...content].map((delta) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })),
    { type: 'TEXT_MESSAGE_END', messageId },
  ]
}

export const hello = (runId = 'r1', content = 'Hello', messageId = `m-${runId}`): StreamChunk[] => [
  started(runId),
  ...text(content, messageId),
  finished(runId),
]

export const sse = (events: readonly unknown[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
export const ndjson = (events: readonly unknown[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join('')

export const userMessage = (content = 'Hi', id = 'u1') => ({ id, role: 'user', parts: [{ type: 'text', content }] }) as const

export const tick = (ms = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits until `condition` holds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 3000
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('The condition did not come true within 3 s.')
    await tick(2)
  }
}
