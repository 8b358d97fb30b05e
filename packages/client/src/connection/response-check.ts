/** Decides whether an HTTP response can be a stream of events, before anyone reads it as one. It decodes no event. */
import { TransportError } from '../errors.ts'
import { getResponseStreamReader } from './response-stream.ts'

const EXCERPT = 500

/** The first characters of a body, for people who have to find out what answered. The rest is cancelled. */
async function excerptOf(response: Response): Promise<string | undefined> {
  let text = ''
  try {
    const reader = getResponseStreamReader(response)
    const decoder = new TextDecoder()
    while (text.length < EXCERPT) {
      const { done, value } = await reader.read()
      if (done) break
      text += decoder.decode(value, { stream: true })
    }
    reader.cancel().catch(() => {})
  } catch {
    // The excerpt is a courtesy; the status or type that led here is the news.
  }
  text = text.trim()
  if (text === '') return undefined
  return text.length > EXCERPT ? `${text.slice(0, EXCERPT)}…` : text
}

export function mediaType(response: Response): string {
  return (response.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

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
  if (type === 'application/vnd.ag-ui.event+proto') {
    return 'answered with protobuf, which this connection did not ask for.'
  }
  return undefined
}

/**
 * Returns if the response may be read as events.
 * @throws TransportError `http-status` or `content-type`, with the first characters of the body.
 */
export async function checkResponse(response: Response, url: string, accepts: 'sse' | 'ndjson'): Promise<void> {
  if (response.ok) {
    const why = refusal(mediaType(response), accepts)
    if (why === undefined) return
    const body = await excerptOf(response)
    throw new TransportError(`${url} ${why}`, { code: 'content-type', status: response.status, url, ...(body !== undefined && { body }) })
  }
  const body = await excerptOf(response)
  const reason = response.statusText === '' ? '' : ` ${response.statusText}`
  throw new TransportError(`${url} answered with HTTP ${response.status}${reason}.`, {
    code: 'http-status',
    status: response.status,
    url,
    ...(body !== undefined && { body }),
  })
}
