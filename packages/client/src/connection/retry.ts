/** Which failures are worth another attempt, and what an answer says about when. It waits for nothing. */
import { TransportError } from '../errors.ts'

/** RFC 9110 and RFC 6585: the same request may succeed later. */
const LATER: ReadonlySet<number> = new Set([408, 425, 429])
/** A gateway lost what stood behind it: whether that has heard of us is unknown. */
const LOST: ReadonlySet<number> = new Set([502, 504])

/** The failure may pass. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof TransportError)) return false
  switch (error.code) {
    case 'network':
    case 'truncated':
      return true
    case 'http-status': {
      const { status = 0 } = error
      return LATER.has(status) || status >= 500
    }
    default:
      return false
  }
}

/** No answer has come of the request, so it may have been accepted. */
export function unanswered(error: unknown): boolean {
  if (!(error instanceof TransportError)) return false
  return error.status === undefined ? mayPass(error) : LOST.has(error.status)
}

/** The server does not have what we asked for, or does not understand it: it does not offer to resume. */
export function isRefusal(error: unknown): boolean {
  return error instanceof TransportError && error.code !== 'aborted' && !mayPass(error)
}

/**
 * Milliseconds to wait by a `Retry-After` header (RFC 9110, §10.2.3): seconds or an HTTP date.
 * Undefined if it is absent or no such value.
 */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1000
  // An HTTP date has its day and time: Date.parse takes far too much for one.
  if (!/^[A-Za-z]{3,9},? .*\d\d:\d\d:\d\d/.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
