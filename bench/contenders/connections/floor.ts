/** The floor over a connection: `fetch`, decode, `JSON.parse`, append. */
import { QUESTION } from '../../workloads/text.ts'
import type { Connect } from '../connection.ts'
import type { Run } from '../contender.ts'
import { FloorFold } from '../floor-fold.ts'
import { lineReader } from '../floor.ts'
import { outcomeOf } from '../messages-answer.ts'

export const floorConnection: Connect = ({ stream, url }) => (): Run => async () => {
  const messages = [...stream.history, { id: 'question', role: 'user' as const, content: QUESTION }]
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ threadId: 'thread', runId: 'run', messages }),
  })
  const fold = new FloorFold(messages, stream.state)
  const read = lineReader((event) => fold.apply(event))
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) read(piece.value)
  return () => outcomeOf(fold.messages, fold.state)
}
