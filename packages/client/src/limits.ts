/** Every bound of this package, with its reason; those of reading events are in the protocol package. All can be set. */
import type { Limits } from '@millrace/protocol'

export interface ClientLimits extends Limits {
  /**
   * Ids of delivered events that a connection keeps at least, to know a repeated one by where ids do not grow as numbers.
   * A server that resumes too early by more events than this, and not at the start of the run, doubles them.
   */
  readonly recentIds: number
  /** Longest wait in ms that a server may ask for (`Retry-After`). Past it we give up: nobody is watching any more. */
  readonly retryAfterMs: number
  /** Longest JSON answer that is no stream (a hydrated thread), in UTF-16 units. It is held as a whole. */
  readonly answerLength: number
  /**
   * Longest answer read from one XMLHttpRequest, in UTF-16 units. The request keeps the whole text until it is over,
   * however much of it was read, and an engine may copy all of it at each look. Past this it is aborted, and resumed
   * where the server offers that.
   */
  readonly maxResponseLength: number
}

/** 512 ids, five minutes, 64 Mi units, 16 Mi units (16 to 32 MB; a long answer with its events has about 1). */
export const DEFAULT_CLIENT_LIMITS: Omit<ClientLimits, keyof Limits> = {
  recentIds: 512,
  retryAfterMs: 5 * 60 * 1000,
  answerLength: 64 * 1024 * 1024,
  maxResponseLength: 16 * 1024 * 1024,
}
