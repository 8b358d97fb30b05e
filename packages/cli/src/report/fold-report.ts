// What `fold` made of a stream, as data.
import type { Interrupt, Message, Run, RunOutcome, UIMessage } from '@millrace/protocol'
import type { Format } from '../input/detect.ts'
import type { Finding } from './check-report.ts'

export interface FoldError {
  readonly message: string
  readonly code?: string
  /** Set where the stream broke a rule, absent where the agent failed. */
  readonly rule?: string
  readonly event?: number
  readonly line?: number
  readonly type?: string
  readonly pointer?: string
  readonly related?: number
}

export interface FoldReport {
  readonly name: string
  readonly format: Format
  readonly events: number
  readonly outcome: RunOutcome
  readonly at: number | null
  readonly error: FoldError | null
  readonly messages: readonly Message[]
  readonly state: unknown
  readonly ui: readonly UIMessage[]
  readonly runs: readonly Run[]
  readonly interrupts: readonly Interrupt[]
  readonly diagnostics: readonly Finding[]
}
