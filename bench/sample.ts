/** What the process of one contender tells the one that started it. */
import type { LoopUse } from './loop-probe.ts'

export interface Sample {
  /** Time of the first round in a new process, in ms: compilation and all. */
  readonly firstMs: number
  /** Median time of later rounds in the same process, in ms. Absent: there was no time for any. */
  readonly ms?: number
  /** Events of the stream, as AG-UI counts them. */
  readonly events: number
  /** The most memory the process had, program and stream included, in MB. */
  readonly rssMb: number
  /** How much the heap grew at most in the first round, in MB. */
  readonly heapMb: number
  /** How it treated the event loop; median of the same rounds as `ms`. Absent where nothing waits for a network. */
  readonly loop?: LoopUse
}

/** What the process of a server tells. */
export interface Served {
  readonly url: string
}

/** In this order; `failed` may come at any time and is the last. */
export type Progress =
  /** All is loaded; the first round begins. */
  | { readonly kind: 'ready' }
  /** The first round is over. */
  | { readonly kind: 'first' }
  | { readonly kind: 'done'; readonly sample: Sample }
  | { readonly kind: 'failed'; readonly reason: string }
