/**
 * Every error this package throws. Each carries a `code` and data; the text is for people and may change.
 *
 * `UsageError` is our caller's misuse, `ProtocolError` the peer's fault. Errors of the network live with the
 * packages that do I/O. This file knows nothing of events.
 */

/** What kind of fault a {@link ProtocolError} is. */
export type ProtocolErrorCode =
  /** The order of events breaks a rule of AG-UI 1.0. */
  | 'violation'
  /** A known field has a wrong value, or a frame is no JSON object with a `type`. */
  | 'malformed'
  /** The stream ended before a terminal event, or in the middle of a frame. */
  | 'truncated'
  /** A bound of `limits.ts` was passed. */
  | 'limit'

/** Data of a {@link ProtocolError}; what is unknown is absent. */
export interface ProtocolErrorData {
  readonly code: ProtocolErrorCode
  /** Id of the rule that was broken (`RULES` says what it is). */
  readonly rule: string
  /** Index of the offending event, counted from 0 as events arrive, before chunk expansion. */
  readonly event?: number
  /** Line of the source on which the frame began, counted from 1. */
  readonly line?: number
  /** Type of the offending event. */
  readonly type?: string
  /** JSON pointer (RFC 6901) into the offending event. */
  readonly pointer?: string
  /** Index of the event that opened what this one collides with. */
  readonly related?: number
}

const PLACE = ['event', 'line', 'type', 'pointer', 'related'] as const

/** The peer sent something that AG-UI 1.0 does not allow. What came before it stays valid. */
export class ProtocolError extends Error implements ProtocolErrorData {
  override readonly name: string = 'ProtocolError'
  readonly code: ProtocolErrorCode
  readonly rule: string
  declare readonly event?: number
  declare readonly line?: number
  declare readonly type?: string
  declare readonly pointer?: string
  declare readonly related?: number

  constructor(message: string, data: ProtocolErrorData) {
    super(message)
    const { code, rule, ...place } = data
    this.code = code
    this.rule = rule
    for (const key of PLACE) if (place[key] !== undefined) Object.assign(this, { [key]: place[key] })
  }
}

/** Codes of {@link UsageError}; the packages above add their own. */
export type UsageErrorCode = string

/** Our caller used an interface in a way it does not allow. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError'
  readonly code: UsageErrorCode

  constructor(code: UsageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** A hook of a subscriber threw; `cause` is what it threw. */
export class HookError extends Error {
  override readonly name: string = 'HookError'
  readonly code = 'hook-failed' as const
  /** Name of the hook, such as `onTextMessageContentEvent`. */
  readonly hook: string

  constructor(hook: string, cause: unknown) {
    super(`${hook} threw: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.hook = hook
  }
}
