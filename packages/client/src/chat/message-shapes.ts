/**
 * What messages have to look like to be taken in. A message that is not whole would be told much later, by whatever
 * reads it first, and then nothing could be shown or sent any more.
 */
import { UsageError } from '@millrace/protocol'
import { isRecord } from '../checks.ts'

/** What is wrong with a value at a place, such as `parts[0].content has to be a string`; undefined if nothing is. */
type Check = (value: unknown, at: string) => string | undefined

const is = (what: string, holds: (value: unknown) => boolean): Check => (value, at) =>
  holds(value) ? undefined : `${at === '' ? 'it' : at} has to be ${what}`

const string = is('a string', (value) => typeof value === 'string')
const boolean = is('true or false', (value) => typeof value === 'boolean')
const record = is('an object', isRecord)
/** What is found out at a send makes each send after it fail. */
const jsonRecord = is('an object that JSON can say', (value) => isRecord(value) && isJson(value))
const oneOf = (...known: readonly string[]): Check =>
  is(`one of ${known.join(', ')}`, (value) => typeof value === 'string' && known.includes(value))

const optional = (check: Check): Check => (value, at) => (value === undefined ? undefined : check(value, at))

const list = (item: Check): Check => (value, at) => {
  if (!Array.isArray(value)) return `${at} has to be an array`
  for (let index = 0; index < value.length; index++) {
    const wrong = item(value[index], `${at}[${index}]`)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

const stringOr = (check: Check): Check => (value, at) =>
  typeof value === 'string' ? undefined : Array.isArray(value) ? check(value, at) : `${at} has to be a string or an array`

function object(fields: Readonly<Record<string, Check>>): Check {
  const entries = Object.entries(fields)
  return (value, at) => {
    if (!isRecord(value)) return record(value, at)
    for (const [name, check] of entries) {
      const wrong = check(value[name], at === '' ? name : `${at}.${name}`)
      if (wrong !== undefined) return wrong
    }
    return undefined
  }
}

/** One shape for each `type`. */
function byType(shapes: Readonly<Record<string, Check>>): Check {
  const type = oneOf(...Object.keys(shapes))
  return (value, at) => {
    if (!isRecord(value)) return record(value, at)
    return type(value['type'], `${at}.type`) ?? shapes[value['type'] as string]?.(value, at)
  }
}

const source = byType({
  data: object({ value: string, mimeType: string }),
  url: object({ value: string, mimeType: optional(string) }),
  file: object({ value: string, provider: optional(string), mimeType: optional(string) }),
})

const contentMedia = object({ source, id: optional(string) })
const content = stringOr(
  list(
    byType({
      text: object({ text: string, id: optional(string) }),
      image: contentMedia,
      audio: contentMedia,
      video: contentMedia,
      document: contentMedia,
    }),
  ),
)

const origin = optional(object({ messageId: string }))
const sealed = { origin, encryptedValue: optional(string) }
const result = object({ messageId: string, content, error: optional(string), metadata: optional(record) })
const approval = object({ id: string, needsApproval: optional(boolean), approved: optional(boolean) })
const media = object({ source, id: optional(string), origin })

const part = byType({
  text: object({ content: string, origin }),
  thinking: object({ content: string, ...sealed }),
  'tool-call': object({ id: string, name: string, arguments: string, result: optional(result), approval: optional(approval), metadata: optional(record), ...sealed }),
  'tool-result': object({ toolCallId: string, content, error: optional(string), metadata: optional(record), ...sealed }),
  image: media,
  audio: media,
  video: media,
  document: media,
  'structured-output': object({ status: oneOf('streaming', 'complete', 'error'), raw: string, origin }),
  activity: object({ activityType: string, content: record, metadata: optional(record), origin }),
})

const uiMessage = object({
  id: string,
  role: oneOf('system', 'developer', 'user', 'assistant'),
  parts: list(part),
  name: optional(string),
  metadata: optional(jsonRecord),
})

const messageInput = object({ content, id: optional(string), metadata: optional(jsonRecord) })

/** @throws UsageError `malformed-message`, naming the message and the field. */
export function checkStored(messages: unknown): void {
  if (!Array.isArray(messages)) throw malformed('Messages have to be given as an array of UIMessages.')
  for (let index = 0; index < messages.length; index++) {
    const wrong = uiMessage(messages[index], '')
    if (wrong === undefined) continue
    throw malformed(`Message ${index} is no UIMessage: ${wrong}. For AG-UI messages, use toUIMessages().`)
  }
}

/** @throws UsageError `malformed-message`, naming the field. */
export function checkInput(input: unknown): void {
  const wrong = messageInput(input, '')
  if (wrong !== undefined) throw malformed(`A message is text, or { content } with text or content parts: ${wrong}.`)
}

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined
  } catch {
    return false
  }
}

function malformed(message: string): UsageError {
  return new UsageError('malformed-message', message)
}
