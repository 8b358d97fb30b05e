/**
 * Which texts of a chat are answers in the form of a value, and those messages with such parts in the place of the texts. A text
 * is one because the server says so (`structured-output.start` and `.complete`, the events of TanStack AI), or because the chat asks
 * for one (the schema of `structured()`) and it is what the agent said last in its run. What a text comes to is decided in
 * `output-text.ts`.
 */
import type { EventOf, Run, RunOutcome, StructuredOutputPart, Thread, ThreadBuilder, UIMessage, UIPart, VerifiedEvent } from '@millrace/protocol'
import { isRecord } from '../checks.ts'
import { currentOutput } from './current-output.ts'
import type { OutputError } from './output-error.ts'
import { OutputText, type ToldOutput } from './output-text.ts'
import type { OutputReader, OutputReaderParts } from './reader.ts'
import { outputsIn } from './stored-outputs.ts'

type ById = Map<string, OutputText>

/** The run that is being folded into a builder. */
interface RunInHand {
  readonly runId: string | undefined
  /** What the agent says in it. */
  text: OutputText | undefined
}

interface Folding {
  readonly texts: ById
  run: RunInHand | undefined
}

export class Outputs implements OutputReader {
  readonly #parts: OutputReaderParts
  /** A run that is read again is folded beside what shows, so what was found is kept for each builder. */
  readonly #folding = new WeakMap<ThreadBuilder, Folding>()
  /** Of messages that were stored, or given. */
  #stored: ById = new Map()
  readonly #shown = new WeakMap<UIMessage, UIMessage>()
  readonly #errors = new WeakMap<UIPart, OutputError>()
  /** Messages without an answer, by the generation of texts that were looked through for them. */
  readonly #plain = new WeakMap<UIMessage, number>()
  #generation = 0
  #builder: ThreadBuilder | undefined
  #last: readonly UIMessage[] = []

  constructor(parts: OutputReaderParts) {
    this.#parts = parts
  }

  take(builder: ThreadBuilder, event: VerifiedEvent): void {
    switch (event.type) {
      case 'RUN_STARTED':
        this.#of(builder).run = undefined
        break
      case 'TEXT_MESSAGE_START':
        if ((event.role ?? 'assistant') === 'assistant' && event.subagentRunId === undefined) this.#expect(builder, event.messageId)
        break
      case 'TEXT_MESSAGE_CONTENT':
        this.#folding.get(builder)?.texts.get(event.messageId)?.grow(event.delta)
        break
      case 'TOOL_CALL_START':
        if (event.subagentRunId === undefined) this.#folding.get(builder)?.run?.text?.pass()
        break
      case 'MESSAGES_SNAPSHOT':
        this.#renamed(builder, event)
        break
      case 'CUSTOM':
        if (event.name === 'structured-output.start') this.#announced(builder, event.value)
        else if (event.name === 'structured-output.complete') this.#told(builder, event.value)
    }
  }

  branch(from: ThreadBuilder, to: ThreadBuilder): void {
    const { texts } = this.#folding.get(from) ?? {}
    if (texts !== undefined) this.#folding.set(to, { texts: new Map(texts), run: undefined })
  }

  adopt(messages: readonly UIMessage[], builder: ThreadBuilder | undefined): void {
    const texts = builder && this.#folding.get(builder)?.texts
    this.#generation++
    for (const message of messages) {
      for (const part of message.parts) {
        const messageId = part.origin?.messageId ?? message.id
        if (part.type === 'structured-output') {
          this.#restore(messageId, part)
        } else if (part.type === 'text') {
          this.#stored.delete(messageId)
          texts?.delete(messageId)
        }
      }
    }
  }

  restore(messages: readonly unknown[]): void {
    for (const [messageId, part] of outputsIn(messages)) this.#restore(messageId, part)
  }

  clear(): void {
    this.#stored = new Map()
  }

  show(messages: readonly UIMessage[], builder: ThreadBuilder, { runs }: Thread): readonly UIMessage[] {
    const texts = this.#folding.get(builder)?.texts
    if ((texts?.size ?? 0) + this.#stored.size === 0) return messages
    if (this.#builder !== builder) this.#generation++
    this.#builder = builder
    const find = (id: string): OutputText | undefined => texts?.get(id) ?? this.#stored.get(id)
    const shown = messages.map((message) => this.#replaced(message, find, runs))
    const same = shown.length === this.#last.length && shown.every((message, index) => message === this.#last[index])
    if (!same) this.#last = shown
    return this.#last
  }

  current(messages: readonly UIMessage[]): StructuredOutputPart | undefined {
    return currentOutput(messages)
  }

  errorOf(part: StructuredOutputPart): OutputError | undefined {
    return this.#errors.get(part)
  }

  #replaced(message: UIMessage, find: (id: string) => OutputText | undefined, runs: readonly Run[]): UIMessage {
    if (message.role !== 'assistant' || this.#plain.get(message) === this.#generation) return message
    let parts: UIPart[] | undefined
    let known = false
    const seen = new Set<string>()
    for (let index = message.parts.length - 1; index >= 0; index--) {
      const text = message.parts[index] as UIPart
      const messageId = text.origin?.messageId
      // Of a message with several texts, the last one is the answer.
      if (text.type !== 'text' || messageId === undefined || seen.has(messageId)) continue
      seen.add(messageId)
      const output = find(messageId)
      if (output === undefined) continue
      known = true
      const part = output.partOf(text, outcomeOf(output, runs))
      if (part === undefined) continue
      if (output.error !== undefined) this.#errors.set(part, output.error)
      parts ??= [...message.parts]
      parts[index] = part
    }
    if (!known) this.#plain.set(message, this.#generation)
    if (parts === undefined) return message
    const before = this.#shown.get(message)
    if (before?.parts.every((part, index) => part === parts[index])) return before
    const shown = { ...message, parts }
    this.#shown.set(message, shown)
    return shown
  }

  /** The text of this message was such an answer. */
  #restore(messageId: string, part: StructuredOutputPart): void {
    this.#generation++
    this.#stored.set(messageId, OutputText.restored({ ...this.#plan(messageId, undefined), announced: true }, part))
  }

  #of(builder: ThreadBuilder): Folding {
    const known = this.#folding.get(builder)
    if (known !== undefined) return known
    const made: Folding = { texts: new Map(), run: undefined }
    this.#folding.set(builder, made)
    return made
  }

  #runOf(builder: ThreadBuilder): RunInHand {
    const folding = this.#of(builder)
    folding.run ??= { runId: builder.snapshot().runs.at(-1)?.runId, text: undefined }
    return folding.run
  }

  /** The agent begins to say something: it may be the answer, unless the server has said what is. */
  #expect(builder: ThreadBuilder, messageId: string): void {
    if (this.#parts.schema() === undefined) return
    const run = this.#runOf(builder)
    if (run.text?.announced || run.text?.messageId === messageId) return
    this.#begin(builder, run, messageId, false)
  }

  #announced(builder: ThreadBuilder, value: unknown): void {
    const run = this.#runOf(builder)
    const messageId = idIn(value) ?? run.text?.messageId
    if (messageId !== undefined) this.#begin(builder, run, messageId, true)
  }

  #told(builder: ThreadBuilder, value: unknown): void {
    if (!isRecord(value) || !('object' in value)) return
    const run = this.#runOf(builder)
    const messageId = idIn(value) ?? run.text?.messageId ?? `${run.runId}-output`
    const text = run.text?.announced && run.text.messageId === messageId ? run.text : this.#begin(builder, run, messageId, true)
    const told = toldIn(value)
    const message = builder.snapshot().messages.find(({ id }) => id === messageId)
    // Some servers say no text: what was answered is to be seen, and to go back, all the same.
    if (message === undefined) builder.addMessage({ id: messageId, role: 'assistant', content: told.raw })
    else if (message.role === 'assistant' && (message.content ?? '') === '') builder.addMessage({ ...message, content: told.raw })
    text.tell(told)
  }

  /** A server that restates its messages may give the one that streamed another id. */
  #renamed(builder: ThreadBuilder, { messages }: EventOf<'MESSAGES_SNAPSHOT'>): void {
    const run = this.#folding.get(builder)?.run
    const last = messages.at(-1)
    if (run?.text === undefined || last?.role !== 'assistant') return
    if (!messages.some(({ id }) => id === run.text?.messageId)) this.#begin(builder, run, last.id, run.text.announced)
  }

  #begin(builder: ThreadBuilder, run: RunInHand, messageId: string, announced: boolean): OutputText {
    const { texts } = this.#of(builder)
    if (run.text?.announced === false) texts.delete(run.text.messageId)
    this.#generation++
    run.text = new OutputText({ ...this.#plan(messageId, run.runId), announced })
    texts.set(messageId, run.text)
    return run.text
  }

  #plan(messageId: string, runId: string | undefined): Omit<ConstructorParameters<typeof OutputText>[0], 'announced'> {
    return { messageId, runId, schema: () => this.#parts.schema(), onSettled: () => this.#parts.onChange() }
  }
}

/** What was stored without an end may still go on somewhere. */
function outcomeOf({ runId }: OutputText, runs: readonly Run[]): RunOutcome {
  return (runId === undefined ? undefined : runs.findLast((run) => run.runId === runId)?.outcome) ?? 'running'
}

function idIn(value: unknown): string | undefined {
  const { messageId } = Object(value) as { readonly messageId?: unknown }
  return typeof messageId === 'string' && messageId !== '' ? messageId : undefined
}

function toldIn({ object, raw, reasoning }: Record<string, unknown>): ToldOutput {
  const text = typeof raw === 'string' && raw !== '' ? raw : textOf(object)
  return { object, raw: text, ...(typeof reasoning === 'string' && { reasoning }) }
}

/** What comes over no wire may be no JSON. */
function textOf(object: unknown): string {
  try {
    return JSON.stringify(object) ?? ''
  } catch {
    return ''
  }
}
