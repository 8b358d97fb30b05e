// An input → the protocol's reader: frames in, findings and a thread out. Each stream of a capture gets a reader of
// its own; event indexes run on through the whole input.
import {
  compatible,
  hygieneRules,
  parseNdjsonFrame,
  ProtocolError,
  RULES,
  ThreadBuilder,
  ThreadReader,
  type Diagnostic,
  type Frame,
  type Message,
  type RuleId,
  type RunOutcome,
  type Thread,
  type VerifiedEvent,
} from '@millrace/protocol'
import { parseBinaryFrame } from '@millrace/protocol/proto'
import type { EndLine, RecordedError, RecordedRequest } from '@millrace/client/recording'
import type { Finding } from '../report/check-report.ts'
import type { Format } from './detect.ts'
import { readFrames } from './frames.ts'
import { RecordedThread } from './recorded-thread.ts'
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
  /** Why the last stream of a recording failed, if not by what was in it. */
  readonly failure?: RecordedError
  readonly thread: Thread
}

/**
 * Reads an input to its end, or to the first error in strict and tolerant mode. What was read before is kept.
 * @throws CommandError if there is no reading it at all
 */
export async function readThread(source: Source, options: ReadOptions): Promise<ReadResult> {
  const recorded = new RecordedThread(
    new ThreadBuilder({
      ...(options.messages && { messages: options.messages }),
      ...(options.state !== undefined && { state: options.state }),
    }),
  )
  let base = 0
  let stream: string | undefined
  let reader: ThreadReader | undefined
  let ended: EndLine | undefined

  const report = (diagnostic: Diagnostic): void => {
    options.onFinding({ ...shifted(diagnostic, base), ...(stream !== undefined && { stream }) })
  }
  const begin = (label?: string, request?: RecordedRequest): ThreadReader => {
    stream = label
    ended = undefined
    if (request !== undefined) recorded.begin(request)
    reader = new ThreadReader({
      ...compatible(options.mode),
      thread: recorded.builder,
      ...(options.messages && { messages: options.messages }),
      ...(options.hygiene && { hygiene: hygieneRules }),
      onDiagnostic: report,
      onEvent: (event, index) => options.onEvent?.(event, base + index),
    })
    return reader
  }
  /** What was stopped or left here is not cut by the server, and what has failed before it began is no stream. */
  const end = (line?: EndLine): void => {
    const { count = 0 } = reader ?? {}
    if (line?.end === 'aborted') recorded.builder.endRun('cancelled')
    else if (line?.end !== 'left' && !(line?.end === 'failed' && count === 0)) reader?.finish()
    ended = line
    base += count
  }
  const result = (format: Format, stop?: ProtocolError): ReadResult => {
    const current = reader ?? begin()
    const error = stop ?? current.error
    return {
      format,
      events: base,
      outcome: stop === undefined ? (endedAs(ended, current) ?? current.outcome) : outcomeOf(stop),
      error,
      at: error === undefined ? null : error.event === undefined ? base - 1 : error.event + (base - current.count),
      ...(ended?.error !== undefined && { failure: ended.error }),
      thread: recorded.builder.snapshot(),
    }
  }

  let known: Format | undefined
  try {
    const format = await readFrames(source, options.format, {
      begin: (format, label, request) => {
        known = format
        begin(label, request)
      },
      input: (input) => recorded.input(input),
      frame: (frame) => acceptFrame(reader as ThreadReader, frame),
      binaryFrame: (frame) => (reader as ThreadReader).acceptFrame(frame, parseBinaryFrame),
      end,
    })
    // A recording in which nothing ran.
    if (reader === undefined) {
      begin()
      end()
    }
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

/** How the last stream of a recording ended, if not by what was in it. */
function endedAs(line: EndLine | undefined, { count, outcome }: ThreadReader): RunOutcome | undefined {
  if (line?.end === 'failed' && count === 0) return 'error'
  if (outcome !== 'running') return undefined
  return line?.end === 'aborted' ? 'cancelled' : line?.end === 'left' ? 'truncated' : undefined
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
