// Opens INPUT: a file, `-` for standard input, or a URL that is POSTed a run input. Gives bytes; knows no format.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { PROTO_MEDIA_TYPE } from '@millrace/protocol/proto'
import { CommandError, messageOf } from '../command-error.ts'
import { printable } from '../terminal.ts'
import type { Format } from './detect.ts'

export interface Source {
  /** How people call it. */
  readonly name: string
  /** Its path, if it is a file. */
  readonly file?: string
  /** Content type or extension: a hint at the format, which what the bytes look like overrules. */
  readonly hint: string
  readonly chunks: AsyncIterable<Uint8Array>
}

export interface SourceOptions {
  /** For URLs: what the user says. */
  readonly message: string
  /** For URLs: `Name: value` lines. */
  readonly headers: readonly string[]
  /** For URLs: what to ask the server for. */
  readonly format?: Format | undefined
  /** Ends the request. */
  readonly signal?: AbortSignal
}

export async function openSource(input: string, options: SourceOptions): Promise<Source> {
  if (input === '-') return { name: 'standard input', hint: '', chunks: process.stdin }
  if (/^https?:\/\//i.test(input)) return request(input, options)
  try {
    if ((await stat(input)).isDirectory()) throw new CommandError(`${input} is a folder`, 'Name a file in it.')
  } catch (error) {
    if (error instanceof CommandError) throw error
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw new CommandError(missing ? `There is no file ${input}` : `${input} cannot be read: ${messageOf(error)}`)
  }
  return { name: input, file: input, hint: extname(input).toLowerCase(), chunks: readFile(input) }
}

async function* readFile(path: string): AsyncIterable<Uint8Array> {
  try {
    yield* createReadStream(path)
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${messageOf(error)}`)
  }
}

async function request(url: string, options: SourceOptions): Promise<Source> {
  const id = crypto.randomUUID()
  let response: Response
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: requestHeaders(options.headers, options.format),
      body: JSON.stringify({
        threadId: `millrace-${id}`,
        runId: `millrace-run-${id}`,
        protocolVersion: '1.0',
        messages: [{ id: `millrace-message-${id}`, role: 'user', content: options.message }],
        state: {},
        tools: [],
        context: [],
        forwardedProps: {},
      }),
      ...(options.signal && { signal: options.signal }),
    })
  } catch (error) {
    throw new CommandError(`${url} cannot be reached: ${messageOf(error)}`)
  }
  const hint = response.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (!response.ok) {
    const body = printable((await response.text().catch(() => '')).trim()).slice(0, 500)
    throw new CommandError(`${url} answered ${response.status} ${response.statusText}`.trim(), body)
  }
  if (response.body === null) throw new CommandError(`${url} answered without a body`)
  return { name: url, hint, chunks: readBody(url, response.body, options.signal) }
}

/** A connection that breaks is the end of the stream, which is then truncated: what came is still looked at. */
async function* readBody(
  url: string,
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  try {
    yield* body as unknown as AsyncIterable<Uint8Array>
  } catch (error) {
    if (signal?.aborted !== true) process.stderr.write(`millrace: the connection to ${url} broke: ${messageOf(error)}\n`)
  }
}

const ACCEPT = 'text/event-stream, application/x-ndjson;q=0.9, application/json;q=0.8'
/**
 * The first choice where a format is insisted on. Protobuf is never asked for otherwise: servers that know it prefer it,
 * and what people save and look at is text.
 */
const ACCEPT_FIRST: Readonly<Partial<Record<Format, string>>> = {
  protobuf: PROTO_MEDIA_TYPE,
  ndjson: 'application/x-ndjson, text/event-stream;q=0.5',
  json: 'application/json, text/event-stream;q=0.5',
}

/** `Name: value` lines as headers, on top of those AG-UI asks for. */
export function requestHeaders(lines: readonly string[], format?: Format): Headers {
  const accept = (format && ACCEPT_FIRST[format]) ?? ACCEPT
  const headers = new Headers({ 'content-type': 'application/json', accept })
  for (const [name, value] of parseHeaders(lines)) headers.set(name, value)
  return headers
}

/** Splits `Name: value` lines. */
export function parseHeaders(lines: readonly string[]): [name: string, value: string][] {
  return lines.map((line) => {
    const at = line.indexOf(':')
    const name = line.slice(0, Math.max(at, 0)).trim()
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
      throw new CommandError(`--header ${line}: not a header`, "Write it as --header 'Name: value'.")
    }
    return [name, line.slice(at + 1).trim()]
  })
}
