/** Decides whether an HTTP response can be a stream of events, before anyone reads it as one. It decodes no event. */
import { systemClock } from '../clock.ts'
import { TransportError } from '../errors.ts'
import type { HttpAnswer } from './http.ts'
import { isWrappedText, WRAPPED } from './opening.ts'
import { reasonIn } from './reason.ts'
import { answerOf } from './response-stream.ts'
import { retryAfterMs } from './retry.ts'

const EXCERPT = 500
/** A body may stay open without end; nobody waits longer for the reason of a failure. */
const EXCERPT_MS = 2_000

/** The first characters of a body, for people who have to find out what answered. The rest is cancelled. */
async function excerptOf(answer: HttpAnswer): Promise<string | undefined> {
  let text = ''
  try {
    text = await readText(answer, EXCERPT, EXCERPT_MS)
  } catch {
    // The excerpt is a courtesy; the status or type that led here is the news.
  }
  text = text.trim()
  if (text === '') return undefined
  return text.length > EXCERPT ? `${text.slice(0, EXCERPT)}…` : text
}

/** The text of a body: what has come when it ends, when it is `length` or more, or after `ms`. The rest is cancelled. */
export async function readText(answer: HttpAnswer, length: number, ms: number): Promise<string> {
  const reader = answer.reader()
  const cancel = (): void => void reader.cancel().catch(() => {})
  const stop = systemClock.after(ms, cancel)
  let text = ''
  let decoder: TextDecoder | undefined
  try {
    while (text.length < length) {
      const { done, value = '' } = await reader.read()
      if (done) return text + (decoder?.decode() ?? '')
      text += typeof value === 'string' ? value : (decoder ??= new TextDecoder()).decode(value, { stream: true })
    }
    return text
  } finally {
    stop()
    cancel()
  }
}

export function mediaType(response: Response): string {
  return mediaTypeOf(answerOf(response))
}

export function mediaTypeOf(answer: HttpAnswer): string {
  return (answer.header('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/** Types of files. What is merely unusual is read: servers mislabel streams as text or bytes. */
const NEVER = /^(?:image|audio|video|font|multipart)\/|^text\/(?:css|javascript)$|^application\/(?:javascript|pdf|zip|wasm)$/

/** How to speak of the types that are certainly no stream, with what to do. */
function refusal(type: string, accepts: 'sse' | 'ndjson'): string | undefined {
  if (type === 'text/html' || type === 'application/xhtml+xml') {
    return (
      'answered with a web page instead of events. The URL may be wrong, may need signing in, or a dev server may ' +
      'answer it with its index.html: check the path and the proxy.'
    )
  }
  // An NDJSON body is often labelled application/json.
  if (accepts === 'sse' && (type === 'application/json' || type === 'application/problem+json')) {
    return (
      'answered with a JSON document instead of a stream of server-sent events. Make the handler answer with ' +
      'text/event-stream; if it sends one JSON event per line, use fetchHttpStream().'
    )
  }
  if (accepts === 'ndjson' && type === 'text/event-stream') {
    return 'answered with server-sent events, but newline-delimited JSON was asked for. Use fetchServerSentEvents().'
  }
  if (NEVER.test(type)) return `answered with ${type}, which is no stream of events. The URL may be that of another resource.`
  if (type === 'application/vnd.ag-ui.event+proto') {
    return 'answered with protobuf, which this connection did not ask for.'
  }
  return undefined
}

/**
 * Returns if the answer may be read as events.
 * @throws TransportError `http-status` or `content-type`, with the first characters of the body.
 */
export async function checkAnswer(answer: HttpAnswer, url: string, accepts: 'sse' | 'ndjson'): Promise<void> {
  if (!isOk(answer)) throw await statusError(answer, url)
  const why = refusal(mediaTypeOf(answer), accepts)
  if (why === undefined) return
  const body = await excerptOf(answer)
  const said = reasonIn(body)
  throw new TransportError(`${url} ${body !== undefined && isWrappedText(body) ? WRAPPED : why}${said === undefined ? '' : ` It says: ${said}`}`, {
    code: 'content-type',
    status: answer.status,
    url,
    ...(body !== undefined && { body }),
  })
}

export function isOk({ status }: HttpAnswer): boolean {
  return status >= 200 && status <= 299
}

/** The error for an answer with a status outside of 200–299. */
export async function statusError(answer: HttpAnswer, url: string): Promise<TransportError> {
  const { status, statusText } = answer
  const body = await excerptOf(answer)
  const asked = retryAfterMs(answer.header('retry-after'), systemClock.now())
  const reason = statusText === '' ? '' : ` ${statusText}`
  const said = reasonIn(body)
  return new TransportError(`${url} answered with HTTP ${status}${reason}${said === undefined ? '.' : `: ${said}`}`, {
    code: 'http-status',
    status,
    url,
    ...(body !== undefined && { body }),
    ...(asked !== undefined && { retryAfterMs: asked }),
  })
}

/** {@link checkAnswer}, for a `Response`. */
export function checkResponse(response: Response, url: string, accepts: 'sse' | 'ndjson'): Promise<void> {
  return checkAnswer(answerOf(response), url, accepts)
}
