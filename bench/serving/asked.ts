/** What a client POSTs: the part of it that a server here looks at. */
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Stream } from '../workloads/stream.ts'

export interface Asked {
  readonly messages: readonly unknown[]
  /** Absent from clients that do not speak AG-UI. */
  readonly threadId?: string
  readonly runId?: string
}

/** Undefined if the history did not come along, with the question after it: such a client would have less to do. */
export async function readAsked(request: IncomingMessage, { history }: Stream): Promise<Asked | undefined> {
  const asked = JSON.parse(await text(request)) as Asked
  return asked.messages.length === history.length + 1 ? asked : undefined
}

/** An event with the ids that were asked for, if it has any. */
export function withIds(event: object, { threadId, runId }: Asked): object {
  return { ...event, ...('threadId' in event && { threadId }), ...('runId' in event && { runId }) }
}
