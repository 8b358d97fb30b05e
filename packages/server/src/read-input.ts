/** Request body → RunAgentInput, within bounds. Says what is wrong with a body; not which status that is. */
import { parseRunAgentInput, ProtocolError, type RunAgentInput } from '@millrace/protocol'
import type { Logger } from './logger.ts'

/** Why a body is no run input. */
export class InputError extends Error {
  override readonly name: string = 'InputError'
  readonly code: 'body.type' | 'body.too-large' | 'body.incomplete' | 'body.not-json' | 'input.malformed'
  /** JSON pointer (RFC 6901) of the offending field. */
  declare readonly pointer?: string

  constructor(code: InputError['code'], message: string, pointer?: string) {
    super(message)
    this.code = code
    if (pointer !== undefined) Object.assign(this, { pointer })
  }
}

/** `application/json` or a `+json` type; JSON is UTF-8 (RFC 8259), whatever else a charset says. */
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i
const OTHER_CHARSET = /;\s*charset\s*=\s*"?(?!utf-8)[\w-]/i

/**
 * Reads and parses the body.
 * @throws InputError
 */
export async function readInput(request: Request, maxBytes: number, logger: Logger): Promise<RunAgentInput> {
  const type = request.headers.get('content-type') ?? ''
  // Asking for a JSON type also keeps HTML forms of other sites out: they cannot send it without a CORS preflight.
  if (!JSON_TYPE.test(type) || OTHER_CHARSET.test(type)) {
    throw new InputError('body.type', 'The body must have Content-Type application/json, in UTF-8')
  }
  const value = parseJson(await readBytes(request, maxBytes))
  try {
    return parseRunAgentInput(withoutMirror(value), {
      onDiagnostic: ({ severity, message, ...rest }) => {
        if (severity !== 'error') logger.warn(message, { ...rest })
      },
    })
  } catch (error) {
    if (error instanceof ProtocolError) throw new InputError('input.malformed', error.message, error.pointer)
    throw error
  }
}

/** Clients of an older convention send `forwardedProps` a second time as `data`, with every request. */
function withoutMirror(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { data: _, ...input } = value as Record<string, unknown>
  return input
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  const tooLarge = new InputError('body.too-large', `The body may have ${maxBytes} bytes`)
  if (declared > maxBytes) throw tooLarge
  if (request.body === null) return new Uint8Array()
  const reader = request.body.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw new InputError('body.incomplete', 'The body ended before its end')
    })
    if (done) break
    length += value.byteLength
    if (length > maxBytes) {
      void reader.cancel().catch(() => undefined)
      throw tooLarge
    }
    chunks.push(value)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new InputError('body.not-json', 'The body is not JSON')
  }
}
