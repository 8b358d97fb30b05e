/** An event as the JSON text that is sent. What has none is a malformed event, however it came about. */
import { ProtocolError } from '@millrace/protocol'

/** @throws ProtocolError `event.malformed` for what JSON cannot hold: undefined, functions, BigInts, cycles. */
export function eventText(event: unknown): string {
  let text: string | undefined
  let cause: unknown
  try {
    // Undefined for undefined, functions and symbols, whatever the types say.
    text = JSON.stringify(event) as string | undefined
  } catch (error) {
    cause = error
  }
  if (text !== undefined) return text
  const why = cause instanceof Error ? `: ${cause.message}` : ` (${typeof event})`
  throw new ProtocolError(`An event cannot be written as JSON${why}`, { code: 'malformed', rule: 'event.malformed' })
}
