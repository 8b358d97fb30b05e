/**
 * One stream of chunks folded into a thread, up to its end and however it ends. It knows what transports add to
 * events (ends that we made up, failures, stops) and nothing of where chunks come from.
 */
import {
  compatible,
  ThreadReader,
  type Diagnostic,
  type Limits,
  type Mode,
  type RunOutcome,
  type Thread,
  type ThreadBuilder,
  type VerifiedEvent,
} from '@millrace/protocol'
import { resultOfEnd, resultOfThrown, type Ending } from './ending.ts'
import { toError } from './errors.ts'
import type { LooseChunk, StreamChunk } from './connection/adapter.ts'
import { isSynthetic } from './connection/stamps.ts'

export interface FoldOptions {
  readonly builder: ThreadBuilder
  readonly mode: Mode
  readonly limits?: Partial<Limits>
  /** Ids of the request, for a run that ends before the peer has named one. */
  readonly ids?: { readonly threadId: string; readonly runId: string; readonly parentRunId?: string }
  readonly onEvent?: (event: VerifiedEvent, index: number) => void
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void
}

/** Thrown through the reader to leave an event half way, when a callback has ended the stream. */
const STOPPED: unique symbol = Symbol('stopped')

export class StreamFold {
  readonly #options: FoldOptions
  readonly #reader: ThreadReader
  #begun = false
  #made: Ending | undefined
  /** By what was folded here; runs of others may be folded into the same builder before and after. */
  #told: RunOutcome = 'running'
  #stopped = false

  constructor(options: FoldOptions) {
    const { builder, mode, limits, onEvent, onDiagnostic } = options
    this.#options = options
    this.#reader = new ThreadReader({
      thread: builder,
      ...compatible(mode),
      ...(limits !== undefined && { limits }),
      ...(onEvent !== undefined && { onEvent: this.#leavable(onEvent) }),
      ...(onDiagnostic !== undefined && { onDiagnostic: this.#leavable(onDiagnostic) }),
    })
  }

  /** Run id as the peer gave it. */
  get runId(): string | undefined {
    return this.#reader.run?.runId
  }

  /** Events that came so far. */
  get seen(): number {
    return this.#reader.count
  }

  get outcome(): RunOutcome {
    return this.#made?.outcome ?? this.#told
  }

  /** Folds one chunk. An ending if the stream is over by it: the peer broke a rule, or folding itself failed. */
  accept(chunk: StreamChunk): Ending | undefined {
    try {
      this.#fold(chunk)
    } catch (thrown) {
      if (thrown === STOPPED) return undefined
      if (thrown === this.#reader.error) return this.ended()
      return this.#failed({ outcome: 'error', error: toError(thrown) })
    }
    this.#told = this.#reader.outcome
    return undefined
  }

  #fold(chunk: StreamChunk): void {
    if (isSynthetic(chunk)) {
      if (chunk.type === 'RUN_FINISHED') this.#finish(chunk as LooseChunk)
      // A synthetic RUN_ERROR stands for what the transport throws, which says more.
      return
    }
    // A note before the run says nothing of which run it is.
    if (!this.#begun && !isNote(chunk)) this.#begin(startsRun(chunk))
    this.#reader.accept(chunk)
  }

  /** The stream ended by itself. */
  ended(): Ending {
    this.#begin(false)
    if (this.#made !== undefined) return this.#made
    const { error, outcome: now } = this.#reader
    const isOther = error === undefined && this.#told !== 'running' && this.#told !== now
    const outcome = isOther ? this.#told : this.#reader.finish()
    return resultOfEnd(outcome, this.#reader.error, this.snapshot().runs.at(-1))
  }

  /** The transport threw. */
  failed(thrown: unknown): Ending {
    return this.#failed(resultOfThrown(thrown))
  }

  #failed(ending: Ending): Ending {
    this.#begin(false)
    const { error, outcome } = ending
    const { code } = (error ?? {}) as { readonly code?: unknown }
    this.#options.builder.endRun(outcome, error && { message: error.message, ...(typeof code === 'string' && { code }) })
    return ending
  }

  /** We stopped it. */
  cancelled(): Ending {
    this.#stopped = true
    this.#begin(false)
    this.#options.builder.endRun('cancelled')
    return { outcome: 'cancelled' }
  }

  snapshot(): Thread {
    return this.#options.builder.snapshot()
  }

  /** One event may be many when it is expanded; a callback that stops the stream stops it before the next of them. */
  #leavable<Args extends unknown[]>(callback: (...args: Args) => void): (...args: Args) => void {
    return (...args) => {
      callback(...args)
      if (this.#stopped) throw STOPPED
    }
  }

  /**
   * A stream that does not begin with RUN_STARTED gets a run under the id we asked with: one without any could not be
   * told from others.
   */
  #begin(named: boolean): void {
    if (this.#begun) return
    this.#begun = true
    const { ids, builder } = this.#options
    if (!named && ids !== undefined) builder.apply({ type: 'RUN_STARTED', ...ids })
  }

  /** Our own RUN_FINISHED closes what the source left open, which one on the wire may not, so it is not verified. */
  #finish({ threadId, runId }: LooseChunk): void {
    this.#begin(false)
    const event = { type: 'RUN_FINISHED', threadId: String(threadId), runId: String(runId) } as const
    this.#options.builder.apply(event)
    this.#made = { outcome: 'finished' }
    this.#options.onEvent?.(event, this.#reader.count)
  }
}

function startsRun(chunk: StreamChunk): boolean {
  const { type, threadId, runId } = Object(chunk) as Partial<LooseChunk>
  return type === 'RUN_STARTED' && typeof threadId === 'string' && typeof runId === 'string'
}

function isNote(chunk: StreamChunk): boolean {
  return (Object(chunk) as Partial<LooseChunk>).type === 'CUSTOM'
}
