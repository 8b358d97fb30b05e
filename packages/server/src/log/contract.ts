/**
 * What a durable log of runs must do. It keeps texts in order and knows who may add to them; it does not know what
 * an event is. Laws (`contract-suite.ts` tests them):
 *
 * 1. Of any number of creates of one run, one is told `created`, and it alone gets a lease.
 * 2. A batch is appended whole or not at all, and is readable once `append` has settled.
 * 3. Offsets of a run grow; reading after the offset of an entry gives exactly the entries behind it, always the same.
 * 4. Only the newest lease of a run can append or close; an older one is refused and changes nothing.
 * 5. The last batch and the closing are one step: no reader sees a closed run without its last event.
 * 6. A tail gives every entry behind its offset once, ends when the run is closed and read to its end, and ends
 *    quietly when its signal aborts, leaving nothing behind.
 */
import type { RunOutcome } from '@millrace/protocol'

/** A place in a run. Opaque to all but its log; printable ASCII without spaces, since it travels as an SSE id. */
export type Offset = string

/** Before the first entry of any run. */
export const START: Offset = '-1'

/** How a run can have ended when its log is closed. */
export type RunEndOutcome = Extract<RunOutcome, 'finished' | 'interrupted' | 'cancelled' | 'error'>

/** The right to add to a run. `token` grows with each holder. */
export interface Lease {
  readonly runId: string
  readonly token: number
}

export interface NewRun {
  readonly threadId: string
  readonly runId: string
  /** The accepted RunAgentInput as JSON text. */
  readonly input: string
  /** How long the lease holds without an append or renewal. */
  readonly leaseMs: number
}

export interface RunInfo {
  readonly threadId: string
  readonly runId: string
  readonly createdAt: number
  readonly status: 'running' | 'closed'
  /** Somebody asked for the run to be cancelled; its producer learns of it with its next append or renewal. */
  readonly cancelRequested: boolean
  /** Present if and only if the run is closed. */
  readonly outcome?: RunEndOutcome
  readonly closedAt?: number
  /** Interrupts the run ended with. */
  readonly interruptIds?: readonly string[]
}

export type Created =
  | { readonly created: true; readonly lease: Lease }
  /** The run was accepted before; it goes on, or has ended, without us. */
  | { readonly created: false; readonly run: RunInfo }

/** What a producer is told when it writes or renews. */
export interface LeaseState {
  readonly cancelRequested: boolean
}

export interface RunEnd {
  readonly outcome: RunEndOutcome
  /** The last batch; it passes the bounds of the log, so that a full run can still end. */
  readonly data: readonly string[]
  readonly interruptIds?: readonly string[]
}

export interface LogEntry {
  readonly offset: Offset
  /** An event as JSON text, as it was appended. */
  readonly data: string
}

export interface LogPage {
  readonly entries: readonly LogEntry[]
  /** The run is closed and nothing lies behind these entries. */
  readonly end: boolean
}

export interface ReadOptions {
  /** Entries behind this offset; default {@link START}. */
  readonly after?: Offset
  /** At most so many entries (at a time, for a tail). */
  readonly limit?: number
}

/** Which closed runs to forget; running ones stay. Both given: runs that meet both. */
export interface TrimSelection {
  readonly closedBefore?: number
  readonly threadId?: string
}

/** Methods reject with `LogError` where a code is named, and with the store's own error when the store fails. */
export interface EventLog {
  /** Accepts a run. `conflict` if another thread has the runId, `limit` if the log is full. */
  create(run: NewRun): Promise<Created>
  /** Adds a batch and renews the lease. `unknown`, `closed`, `fenced`, `limit`. */
  append(lease: Lease, data: readonly string[]): Promise<LeaseState>
  /** Says that the producer lives. `unknown`, `closed`, `fenced`. */
  renew(lease: Lease): Promise<LeaseState>
  /** Adds the last batch and closes the run. `unknown`, `closed`, `fenced`. */
  close(lease: Lease, end: RunEnd): Promise<void>
  /** The lease of a run whose producer let it expire, to close it; undefined if it holds, or there is nothing to close. */
  takeOver(runId: string, leaseMs: number): Promise<Lease | undefined>
  /** Marks a running run; a closed one stays as it is. Undefined if unknown. */
  requestCancel(runId: string): Promise<RunInfo | undefined>
  get(runId: string): Promise<RunInfo | undefined>
  /** The input given to `create`; undefined if unknown. */
  input(runId: string): Promise<string | undefined>
  /** Runs of a thread in the order of their creation; empty if unknown. */
  list(threadId: string): Promise<readonly RunInfo[]>
  /** What is there now. `unknown`, `offset`. */
  read(runId: string, options?: ReadOptions): Promise<LogPage>
  /** What is there and what comes, in batches that are never empty. `unknown`, `offset`. */
  tail(runId: string, options?: ReadOptions & { readonly signal?: AbortSignal }): AsyncIterable<readonly LogEntry[]>
  /** Forgets closed runs; says how many. */
  trim(selection: TrimSelection): Promise<number>
}
