/**
 * The lines of a recording, as docs/recordings.md describes them: NDJSON, the header first, then what happened, in order. Types,
 * and how a line is read; nothing here writes or keeps one.
 */

/** Version that is written; readers take a header with another for a format they do not know. */
export const RECORDING_VERSION = 1

/** The first line. */
export interface RecordingHeader {
  /** Version of the format. */
  readonly recording: number
  /** When the recording began, in UTC (ISO 8601). */
  readonly startedAt: string
}

/** What was asked of the server. `run`: one request, one stream; `send`: its events come over the subscription. */
export type RecordedRequest =
  | { readonly kind: 'run' | 'send'; readonly input?: unknown }
  | { readonly kind: 'subscribe' }
  | { readonly kind: 'join' | 'cancel'; readonly runId: string }
  | { readonly kind: 'hydrate'; readonly threadId: string }

/** How an exchange ended: `left` by who read it, `aborted` by its signal. */
export type RecordedEnd = 'done' | 'failed' | 'left' | 'aborted'

/** What is kept of an error. */
export interface RecordedError {
  readonly message: string
  readonly code?: string
  /** HTTP status, if it has one. */
  readonly status?: number
}

/** `at`: ms since the recording began; `of`: which exchange, from 1 on. */
interface Entry {
  readonly at: number
  readonly of: number
}

export interface RequestLine extends Entry {
  readonly request: RecordedRequest
}

/** An event as it came. The members `id` and `chunk` are those of NDJSON envelopes, so that any reader of these finds the events. */
export interface EventLine extends Entry {
  /** Its cursor, where that is known. */
  readonly id?: string
  readonly chunk: unknown
  /** A terminal event that the client made in place of one that did not come. */
  readonly made?: true
}

/** What the server answered, to `hydrate` and `cancel`. */
export interface AnswerLine extends Entry {
  readonly answer: unknown
}

export interface EndLine extends Entry {
  readonly end: RecordedEnd
  readonly error?: RecordedError
}

/** Events of this exchange were let go: there was no room for them. */
export interface LostLine extends Entry {
  readonly lost: number
}

export type RecordingLine = RecordingHeader | RequestLine | EventLine | AnswerLine | EndLine | LostLine

/**
 * Reads a line. Undefined for what is no line of a recording, and for lines of a kind that is not known: later versions may
 * have more.
 */
export function parseRecordingLine(text: string): RecordingLine | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const { recording, startedAt, at, of, request, end, lost } = value as Record<string, unknown>
  if (typeof recording === 'number') return typeof startedAt === 'string' ? (value as RecordingHeader) : { ...value, recording, startedAt: '' }
  if (typeof at !== 'number' || typeof of !== 'number') return undefined
  const known =
    'chunk' in value ||
    'answer' in value ||
    (typeof request === 'object' && request !== null && typeof (request as { kind?: unknown }).kind === 'string') ||
    typeof end === 'string' ||
    typeof lost === 'number'
  return known ? (value as RecordingLine) : undefined
}
