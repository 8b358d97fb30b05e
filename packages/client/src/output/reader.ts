/**
 * What a chat knows of answers in the form of a value. Types only: what reads them is handed in by the option `output`, so that a
 * chat which asks for none carries none of it.
 */
import type { StructuredOutputPart, Thread, ThreadBuilder, UIMessage, VerifiedEvent } from '@millrace/protocol'
import type { OutputSchema } from '../tools/tool-types.ts'
import type { OutputError } from './output-error.ts'

export interface OutputReader {
  /** An event was folded. */
  take(builder: ThreadBuilder, event: VerifiedEvent): void
  /** A builder begins with what another holds. */
  branch(from: ThreadBuilder, to: ThreadBuilder): void
  /** Messages come in whose parts say themselves what they are. */
  adopt(messages: readonly UIMessage[], builder: ThreadBuilder | undefined): void
  /** Messages that a server has stored, in whichever form it tells them. */
  restore(messages: readonly unknown[]): void
  clear(): void
  /** The messages with their answers in the place of the texts. The same objects, and the same array, for what did not change. */
  show(messages: readonly UIMessage[], builder: ThreadBuilder, thread: Thread): readonly UIMessage[]
  /** The answer to the last message of the user, out of messages that show. */
  current(messages: readonly UIMessage[]): StructuredOutputPart | undefined
  /** Why a part is none, if it was read here. */
  errorOf(part: StructuredOutputPart): OutputError | undefined
}

export interface OutputReaderParts {
  /** Of now: it may be another one, or be gone, from one send to the next. */
  schema(): OutputSchema | undefined
  /** What is shown changed by itself: a schema that takes its time is done. */
  onChange(): void
}

/** What `structured()` gives for the option `output`. */
export interface StructuredOutput<Schema extends OutputSchema = OutputSchema> {
  /** What the agent is asked for; undefined: nothing, and a value is what the server says is one. */
  readonly schema: Schema | undefined
  readonly open: (parts: OutputReaderParts) => OutputReader
}
