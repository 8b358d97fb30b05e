/**
 * What producers from before AG-UI 1.0 send, in its 1.0 form (AG-UI 1.0, compatibility). All tolerance of old
 * spellings lives here and nowhere else; it runs before enforcement and sees raw values. Who does not name it does not load it.
 */
import type { Reporter } from '../diagnostics.ts'
import { isObject, present } from '../json-value.ts'
import type { RawEvent } from './parse.ts'

type Raw = Record<string, unknown>

/** Optional fields that known producers write as null; elsewhere null is malformed. */
const NULLED: ReadonlyMap<string, readonly string[]> = new Map([
  ['RUN_FINISHED', ['result', 'outcome']],
  ['SUBAGENT_FINISHED', ['result']],
  ['TOOL_CALL_START', ['parentMessageId']],
  ['TOOL_CALL_CHUNK', ['parentMessageId']],
])

interface Thinking {
  readonly type: string
  readonly item: 'span' | 'message'
  readonly starts: boolean
}

/** The oldest spelling has THINKING_CONTENT right inside of the span: a chunk, which expansion opens and closes. */
const THINKING: ReadonlyMap<string, Thinking> = new Map(Object.entries({
  THINKING_CONTENT: { type: 'REASONING_MESSAGE_CHUNK', item: 'message', starts: false },
  THINKING_START: { type: 'REASONING_START', item: 'span', starts: true },
  THINKING_END: { type: 'REASONING_END', item: 'span', starts: false },
  THINKING_TEXT_MESSAGE_START: { type: 'REASONING_MESSAGE_START', item: 'message', starts: true },
  THINKING_TEXT_MESSAGE_CONTENT: { type: 'REASONING_MESSAGE_CONTENT', item: 'message', starts: false },
  THINKING_TEXT_MESSAGE_END: { type: 'REASONING_MESSAGE_END', item: 'message', starts: false },
} satisfies Record<string, Thinking>))

/** Types that may need anything; all others pass untouched. */
const OLD_FORMS: ReadonlySet<string> = new Set(['RUN_STARTED', 'RUN_ERROR', 'MESSAGES_SNAPSHOT', 'TOOL_CALL_RESULT', ...NULLED.keys(), ...THINKING.keys()])

export class Upgrader {
  readonly #reporter: Reporter
  #runId = ''
  #minted = 0
  /** The old events carry no ids: the last one minted for each kind of item. */
  #current: { span?: string; message?: string } = {}

  constructor(reporter: Reporter) {
    this.#reporter = reporter
  }

  /** The event in its 1.0 form; the same object if it needs nothing, as almost all do. */
  upgrade(raw: RawEvent): RawEvent {
    const event = raw['rawEvent'] === null ? this.#without(raw, 'rawEvent') : raw
    return (OLD_FORMS.has(raw.type) ? this.#upgrade(event, raw.type) : event) as RawEvent
  }

  #upgrade(raw: Raw, type: string): Raw {
    switch (type) {
      case 'RUN_STARTED':
        this.#runId = typeof raw['runId'] === 'string' ? raw['runId'] : ''
        this.#current = {}
        return isObject(raw['input']) ? replace(raw, 'input', this.upgradeInput(raw['input'], '/input')) : raw
      case 'MESSAGES_SNAPSHOT':
        return replace(raw, 'messages', this.#messages(raw['messages'], '/messages'))
      case 'TOOL_CALL_RESULT':
        return replace(raw, 'content', this.#content(raw['content'], '/content'))
      default: {
        let event = replace(raw, 'usage', this.#usage(raw['usage']))
        for (const key of NULLED.get(type) ?? []) if (raw[key] === null) event = this.#without(event, key)
        const row = THINKING.get(type)
        return row === undefined ? event : this.#thinking(event, type, row)
      }
    }
  }

  #thinking(event: Raw, type: string, row: Thinking): Raw {
    const { title, ...rest } = event
    if (row.item === 'span' && row.starts) this.#current = {}
    if (row.starts || this.#current[row.item] === undefined) {
      this.#current[row.item] = `${this.#runId}-thinking-${++this.#minted}`
    }
    this.#retired(`${type} was read as ${row.type}${title === undefined ? '' : '; its title has no place there and was dropped'}`)
    const upgraded: Raw = { ...rest, type: row.type, messageId: this.#current[row.item] }
    if (row.type === 'REASONING_MESSAGE_START') upgraded['role'] = 'reasoning'
    return upgraded
  }

  /** A run input in its 1.0 form; `path` is the pointer under which it stands. */
  upgradeInput(input: Raw, path = ''): Raw {
    let result = input
    // A null state means no state in every SDK; told, since whoever held the null will find that `{}` was read.
    for (const key of ['state', 'forwardedProps']) if (input[key] === null) result = this.#without(result, key, path)
    result = replace(result, 'messages', this.#messages(input['messages'], `${path}/messages`))
    result = replace(result, 'tools', this.#eachWithout(input['tools'], 'parameters', `${path}/tools`))
    return replace(result, 'resume', this.#eachWithout(input['resume'], 'payload', `${path}/resume`))
  }

  #eachWithout(list: unknown, key: string, path: string): unknown {
    return mapChanged(list, (element, index) =>
      isObject(element) && element[key] === null ? this.#without(element, key, `${path}/${index}`) : element,
    )
  }

  #messages(messages: unknown, path: string): unknown {
    return mapChanged(messages, (message, index) =>
      isObject(message) ? replace(message, 'content', this.#content(message['content'], `${path}/${index}/content`)) : message,
    )
  }

  #content(content: unknown, path: string): unknown {
    if (!Array.isArray(content)) return content
    const parts = mapChanged(content, (part, index) => {
      if (!isObject(part)) return part
      const known = part['metadata'] === null ? this.#without(part, 'metadata', `${path}/${index}`) : part
      return part['type'] === 'binary' ? this.#binary(known, `${path}/${index}`) : known
    }) as unknown[]
    if (parts === content) return content
    // Producers of the transition sent both spellings of one attachment.
    const seen = new Set(content.filter((part) => isObject(part) && part['type'] !== 'binary').map((part) => JSON.stringify(part)))
    return parts.filter((part, index) => !isOldBinary(content[index]) || !seen.has(JSON.stringify(part)))
  }

  /** TanStack AI's own form, which its `chat()` gives and its client makes of ours: an object in the words of OpenAI. */
  #usage(usage: unknown): unknown {
    if (!isObject(usage) || usage['promptTokens'] === undefined) return usage
    const { promptTokens: inputTokens, completionTokens: outputTokens, totalTokens, promptTokensDetails, completionTokensDetails } = usage
    const { cachedTokens: cachedInputTokens } = Object(promptTokensDetails) as Raw
    const { reasoningTokens } = Object(completionTokensDetails) as Raw
    this.#retired('`usage` was read as a list of one', '/usage')
    return [present({ inputTokens, outputTokens, totalTokens, cachedInputTokens, reasoningTokens })]
  }

  #binary(part: Raw, path: string): Raw {
    const { mimeType, data, url, filename, id } = part
    if (typeof mimeType !== 'string' || (typeof data !== 'string' && typeof url !== 'string')) {
      this.#retired('A `binary` part without data or url cannot be translated and is removed', path)
      return part
    }
    const family = mimeType.slice(0, mimeType.indexOf('/'))
    const type = family === 'image' || family === 'audio' || family === 'video' ? family : 'document'
    this.#retired(`A \`binary\` part was read as \`${type}\``, path)
    const source = typeof data === 'string' ? { type: 'data', value: data, mimeType } : { type: 'url', value: url, mimeType }
    return {
      type,
      ...(typeof id === 'string' && { id }),
      source,
      ...(typeof filename === 'string' && { metadata: { filename } }),
    }
  }

  #without(object: Raw, key: string, path = ''): Raw {
    this.#reporter.report('event.null-field', { message: `\`${key}\` is null; read as absent`, pointer: `${path}/${key}` })
    return omit(object, key)
  }

  #retired(message: string, pointer?: string): void {
    this.#reporter.report('event.retired-shape', { message, ...present({ pointer }) })
  }
}

/** Reads what producers from before 1.0 send, for the option `upgrade`: only who names it loads it. */
export function oldSpellings(reporter: Reporter): (raw: RawEvent) => RawEvent {
  const upgrader = new Upgrader(reporter)
  return (raw) => upgrader.upgrade(raw)
}

function isOldBinary(part: unknown): boolean {
  return isObject(part) && part['type'] === 'binary'
}

function omit(object: Raw, key: string): Raw {
  const copy = { ...object }
  delete copy[key]
  return copy
}

function replace(object: Raw, key: string, value: unknown): Raw {
  return object[key] === value ? object : { ...object, [key]: value }
}

/** `map` that gives the same list if no element changed; what is no list is left for enforcement. */
function mapChanged(list: unknown, change: (element: unknown, index: number) => unknown): unknown {
  if (!Array.isArray(list)) return list
  let copy: unknown[] | undefined
  list.forEach((element, index) => {
    const changed = change(element, index)
    if (changed !== element) (copy ??= list.slice())[index] = changed
  })
  return copy ?? list
}
