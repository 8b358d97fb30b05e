// An input → the protocol's reader: frames in, findings and a thread out. Each stream of a capture gets a reader of
// its own; event indexes run on through the whole input.
import {
  ProtocolError,
  RULES,
  ThreadBuilder,
  ThreadReader,
  hygieneRules,
  parseNdjsonFrame,
  type Diagnostic,
  type Frame,
  type Message,
  type RuleId,
  type RunOutcome,
  type Thread,
  type VerifiedEvent,
} from '@millrace/protocol'
import { parseBinaryFrame } from '@millrace/protocol/proto'
import type { Finding } from '../report/check-report.ts'
import type { Format } from './detect.ts'
import { readFrames } from './frames.ts'
import type { Source } from './source.ts'

export interface ReadOptions {
  readonly mode: 'strict' | 'tolerant' | 'report'
  readonly format: Format | undefined
  /** Report what is legal and still worth a look as well. */
  readonly hygiene?: boolean
  readonly messages?: readonly Message[]
  readonly state?: unknown
  readonly onFinding: (finding: Finding) => void
  readonly onEvent?: (event: VerifiedEvent, index: number) => void
}

export interface ReadResult {
  readonly format: Format
  /** Events that came. */
  readonly events: number
  readonly outcome: RunOutcome
  /** Why reading stopped, if it did. */
  readonly error: ProtocolError | undefined
  /** Index of the event at which it stopped. */
  readonly at: number | null
  readonly thread: Thread
}

/**
 * Reads an input to its end, or to the first error in strict and tolerant mode. What was read before is kept.
 * @throws CommandError if there is no reading it at all
 */
export async function readThread(source: Source, options: ReadOptions): Promise<ReadResult> {
  const builder = new ThreadBuilder({
    ...(options.messages && { messages: options.messages }),
    ...(options.state !== undefined && { state: options.state }),
  })
  let base = 0
  let stream: string | undefined
  let reader: ThreadReader | undefined

  const report = (diagnostic: Diagnostic): void => {
    options.onFinding({ ...shifted(diagnostic, base), ...(stream !== undefined && { stream }) })
  }
  const begin = (label?: string): ThreadReader => {
    stream = label
    reader = new ThreadReader({
      mode: options.mode,
      thread: builder,
      ...(options.messages && { messages: options.messages }),
      ...(options.hygiene && { hygiene: hygieneRules }),
      onDiagnostic: report,
      onEvent: (event, index) => options.onEvent?.(event, base + index),
    })
    return reader
  }
  const end = (): void => {
    reader?.finish()
    base += reader?.count ?? 0
  }
  const result = (format: Format, stop?: ProtocolError): ReadResult => {
    const current = reader ?? begin()
    const error = stop ?? current.error
    return {
      format,
      events: base,
      outcome: stop === undefined ? current.outcome : outcomeOf(stop),
      error,
      at: error === undefined ? null : error.event === undefined ? base - 1 : error.event + (base - current.count),
      thread: builder.snapshot(),
    }
  }

  let known: Format | undefined
  try {
    const format = await readFrames(source, options.format, {
      begin: (format, label) => {
        known = format
        begin(label)
      },
      frame: (frame) => acceptFrame(reader as ThreadReader, frame),
      binaryFrame: (frame) => (reader as ThreadReader).acceptFrame(frame, parseBinaryFrame),
      end,
    })
    return result(format)
  } catch (error) {
    if (!(error instanceof ProtocolError) || known === undefined) throw error
    // The reader counts and reports what it refuses. What the framing refuses (a frame without end) it never saw.
    if (reader?.error === error) {
      end()
    } else {
      report(diagnosticOf(error, reader?.count ?? 0))
      end()
      base += 1
    }
    return result(known, error)
  }
}

/** NDJSON lines, and elements of arrays, may be envelopes `{id, chunk}`; few are, so few are looked into. */
function acceptFrame(reader: ThreadReader, frame: Frame): void {
  if (frame.data.includes('"chunk"') && frame.data.trimStart().startsWith('{')) {
    const event = unwrapped(frame)
    if (event !== undefined) {
      reader.accept(event, frame.line)
      return
    }
  }
  reader.acceptFrame(frame)
}

function unwrapped(frame: Frame): unknown {
  try {
    const { event } = parseNdjsonFrame(frame)
    return typeof event === 'object' ? event : undefined
  } catch {
    return undefined
  }
}

function shifted(diagnostic: Diagnostic, base: number): Diagnostic {
  if (base === 0 || diagnostic.event === null) return diagnostic
  const related = diagnostic.related === undefined ? {} : { related: diagnostic.related + base }
  return { ...diagnostic, event: diagnostic.event + base, ...related }
}

function diagnosticOf(error: ProtocolError, event: number): Diagnostic {
  const rule = (Object.hasOwn(RULES, error.rule) ? error.rule : 'frame.not-json') as RuleId
  const { message, line } = error
  return { rule, severity: RULES[rule].severity, message, event, ...(line !== undefined && { line }) }
}

function outcomeOf(error: ProtocolError): RunOutcome {
  return error.code === 'violation' || error.code === 'truncated' ? error.code : 'malformed'
}
