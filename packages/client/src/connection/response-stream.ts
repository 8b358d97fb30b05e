/** Gets at the bytes of a response, or says why there are none to be had. It does not decode them. */
import { UnsupportedResponseStreamError } from '../errors.ts'
import type { HttpAnswer } from './http.ts'

/** A `Response` as an answer. */
export function answerOf(response: Response): HttpAnswer {
  return {
    status: response.status,
    statusText: response.statusText,
    url: response.url,
    header: (name) => response.headers.get(name),
    reader: () => getResponseStreamReader(response),
  }
}

/**
 * A reader over the body of a response.
 * @throws UnsupportedResponseStreamError if there is no body, or none that can be read in pieces (React Native's
 *   fetch, for one); use an `xhr…` connection or `stream()` there.
 */
export function getResponseStreamReader(response: Response): ReadableStreamDefaultReader<Uint8Array> {
  const where = { status: response.status, url: response.url }
  if (typeof TextDecoder !== 'function') {
    throw new UnsupportedResponseStreamError(
      'This runtime has no TextDecoder, so a response cannot be decoded while it arrives. Use xhrServerSentEvents(), xhrHttpStream() or stream().',
      where,
    )
  }
  const body: ReadableStream<Uint8Array> | null | undefined = response.body
  if (body === null && response.status !== 0) {
    throw new UnsupportedResponseStreamError(
      `The response (status ${response.status}) has no body; a run is answered with a stream of events.`,
      where,
    )
  }
  if (typeof body?.getReader !== 'function') {
    throw new UnsupportedResponseStreamError(
      'This runtime cannot read a response while it arrives (response.body.getReader is missing). Use xhrServerSentEvents(), ' +
        'xhrHttpStream() or stream().',
      where,
    )
  }
  if (body.locked) {
    throw new UnsupportedResponseStreamError('The body of this response is already being read by someone else.', where)
  }
  return body.getReader()
}
