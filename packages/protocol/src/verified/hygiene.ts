/**
 * Hygiene: what is legal and still worth a look. It watches verified events beside the verifier, decides nothing, and is
 * only run where somebody reads the findings (`check`), since it keeps the text of open calls.
 */
import type { Reporter } from '../diagnostics.ts'
import { anyEvent } from '../events/catalogue.ts'
import { isObject } from '../json-value.ts'
import type { EventOf, EventType, Message, VerifiedEvent } from '../events/event.ts'
import { HYGIENE } from '../severities.ts'

type HygieneId = keyof typeof HYGIENE
type Look<Type extends EventType> = (event: EventOf<Type>) => void

/** Watches verified events and reports what is worth a look. */
export interface Watch {
  see(event: VerifiedEvent): void
}

/** Makes a {@link Watch} for one stream; `history` is what the thread held before. */
export type WatchFactory = (reporter: Reporter, history: readonly Message[]) => Watch

/** The hygiene rules, for the option of that name: only who names them loads them. */
export function hygieneRules(reporter: Reporter, history: readonly Message[]): Watch {
  return new Hygiene(reporter, history)
}

class Hygiene implements Watch {
  readonly #reporter: Reporter
  /** Findings that are said once for each stream. */
  readonly #said = new Set<HygieneId>()
  readonly #messages = new Set<string>()
  readonly #calls = new Set<string>()
  /** Arguments of open calls, in pieces. */
  readonly #arguments = new Map<string, string[]>()
  readonly #runs = new Set<string>()
  #threadId: string | undefined
  #hasState = false

  constructor(reporter: Reporter, history: readonly Message[]) {
    this.#reporter = reporter
    this.#learn(history)
  }

  readonly #watch: { readonly [Type in EventType]?: Look<Type> } = {
    RUN_STARTED: ({ threadId, runId, input }) => {
      if (this.#threadId !== undefined && this.#threadId !== threadId) {
        this.#say('hygiene.stray-thread', `The stream goes from thread "${this.#threadId}" to "${threadId}"`, '/threadId')
      }
      this.#threadId = threadId
      if (this.#runs.has(runId)) this.#say('hygiene.run-id-reused', `Run "${runId}" was started before`, '/runId')
      this.#runs.add(runId)
      if (input?.state !== undefined) this.#hasState = true
      this.#learn(input?.messages ?? [])
    },
    TEXT_MESSAGE_START: ({ messageId }) => this.#messages.add(messageId),
    TEXT_MESSAGE_CONTENT: (event) => this.#delta(event.delta),
    REASONING_MESSAGE_CONTENT: (event) => this.#delta(event.delta),
    TOOL_CALL_START: ({ toolCallId, parentMessageId }) => {
      if (parentMessageId !== undefined && !this.#messages.has(parentMessageId)) {
        this.#say('hygiene.unknown-parent', `No message "${parentMessageId}" was started`, '/parentMessageId')
      }
      this.#messages.add(parentMessageId ?? toolCallId)
      this.#calls.add(toolCallId)
      this.#arguments.set(toolCallId, [])
    },
    TOOL_CALL_ARGS: ({ toolCallId, delta }) => {
      this.#delta(delta)
      this.#arguments.get(toolCallId)?.push(delta)
    },
    TOOL_CALL_END: ({ toolCallId }) => {
      const text = this.#arguments.get(toolCallId)?.join('') ?? ''
      this.#arguments.delete(toolCallId)
      // A call without arguments may leave them out.
      if (text.trim() !== '' && !isJson(text)) {
        this.#say('hygiene.arguments-not-json', `The arguments of call "${toolCallId}" are not JSON`, '/toolCallId')
      }
    },
    TOOL_CALL_RESULT: ({ toolCallId }) => {
      if (!this.#calls.has(toolCallId)) this.#say('hygiene.result-without-call', `No call "${toolCallId}" was made`, '/toolCallId')
    },
    STATE_SNAPSHOT: () => {
      this.#hasState = true
    },
    STATE_DELTA: () => {
      if (!this.#hasState) this.#sayOnce('hygiene.delta-before-snapshot', 'STATE_DELTA comes before any STATE_SNAPSHOT')
    },
    MESSAGES_SNAPSHOT: ({ messages }) => this.#learn(messages),
    CUSTOM: ({ name }) => {
      if (!/[.:/]/.test(name)) this.#say('hygiene.custom-name', `The name "${name}" has no prefix`, '/name')
    },
    RAW: ({ event }) => {
      if (isObject(event) && typeof event['type'] === 'string' && anyEvent.members.has(event['type'])) {
        this.#say('hygiene.raw-wraps-event', `RAW wraps a ${event['type']}`, '/event')
      }
    },
  }

  see(event: VerifiedEvent): void {
    if (event.timestamp === undefined) this.#sayOnce('hygiene.no-timestamps', 'Events carry no timestamp')
    ;(this.#watch[event.type] as ((event: VerifiedEvent) => void) | undefined)?.(event)
  }

  #learn(messages: readonly Message[]): void {
    for (const message of messages) {
      this.#messages.add(message.id)
      if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) this.#calls.add(id)
    }
  }

  #delta(delta: string): void {
    if (delta === '') this.#sayOnce('hygiene.empty-delta', 'A delta is empty', '/delta')
  }

  #sayOnce(rule: HygieneId, message: string, pointer?: string): void {
    if (this.#said.has(rule)) return
    this.#said.add(rule)
    this.#say(rule, message, pointer)
  }

  #say(rule: HygieneId, message: string, pointer?: string): void {
    this.#reporter.report(rule, { message, severity: HYGIENE[rule], ...(pointer !== undefined && { pointer }) })
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
