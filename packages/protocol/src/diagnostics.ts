/**
 * A diagnostic is one finding about a stream: which rule, how bad, where. Stages report through a `Reporter`,
 * which knows the place; they never see the sink.
 */
import { present } from './json-value.ts'
import { ProtocolError, type ProtocolErrorCode } from './errors.ts'
import { severityOf, type RuleId, type Severity } from './severities.ts'

/** One finding about a stream: which rule, how bad, where. What is unknown of the place is absent. */
export interface Diagnostic {
  /** Id of the rule; `RULES` says what it is. */
  readonly rule: RuleId
  readonly severity: Severity
  /** What is wrong and what to do, for people. */
  readonly message: string
  /** Index of the event, from 0, as they arrive; `null` for findings about the stream as a whole. */
  readonly event: number | null
  /** Line of the source on which the frame began, from 1, where the source has lines. */
  readonly line?: number
  /** Type of the event. */
  readonly type?: string
  /** JSON pointer (RFC 6901) into the event. */
  readonly pointer?: string
  /** Index of the event that opened what this one collides with. */
  readonly related?: number
}

/** What a stage says; the place is added by the {@link Reporter}. */
export interface Finding {
  readonly message: string
  readonly severity?: Severity | undefined
  readonly pointer?: string | undefined
  readonly related?: number | undefined
}

/** Adds the place to findings and hands them to one sink. */
export class Reporter {
  /** Index of the event in hand; `null` outside of one. */
  event: number | null = null
  line: number | undefined = undefined
  type: string | undefined = undefined
  readonly #sink: ((diagnostic: Diagnostic) => void) | undefined

  constructor(sink?: (diagnostic: Diagnostic) => void) {
    this.#sink = sink
  }

  report(rule: RuleId, finding: Finding): void {
    if (this.#sink === undefined) return
    this.#sink({
      rule,
      severity: finding.severity ?? severityOf(rule),
      message: finding.message,
      event: this.event,
      ...present({ line: this.line, type: this.type, pointer: finding.pointer, related: finding.related }),
    })
  }

  /** A finding as an error, with the place. */
  error(code: ProtocolErrorCode, rule: RuleId, { message, pointer, related }: Finding): ProtocolError {
    const { event, line, type } = this
    return new ProtocolError(message, { code, rule, ...present({ event: event ?? undefined, line, type, pointer, related }) })
  }
}
