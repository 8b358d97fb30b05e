/**
 * Every bound of this package, with its reason. All can be set; passing one gives a `ProtocolError` with code
 * `limit` that names it. A patch that passes one fails with a finding, and a reading of partial JSON ends there.
 */
export interface Limits {
  /** Longest frame, in UTF-16 units; in bytes where frames are. A peer that never ends a line would otherwise fill the memory. */
  readonly frameLength: number
  /** Deepest nesting of open JSON (state, metadata, raw events, tool arguments), by patches too. Walkers here and in applications recurse. */
  readonly jsonDepth: number
  /** Longest number in a JSON text that is read while it grows, in UTF-16 units. At the top it is read anew each time. */
  readonly numberLength: number
  /**
   * Values that a document (shared state, an activity) may come to hold by JSON Patch `copy`, each counted wherever it
   * stands. A copy is a pointer here and a few bytes on the wire, but whoever serialises or renders the document pays
   * for every place: thirty copies, each of all there is so far, make 10⁹ values.
   */
  readonly documentValues: number
  /** Items (messages, calls, steps, subagents …) that one run may open. Bounds the ledger. */
  readonly ledgerItems: number
  /** Diagnostics kept by readers that collect them. A hostile stream could give one per field. */
  readonly diagnostics: number
}

/** 16 Mi units per frame, 200 levels, numbers of 4,096 units, 1,000,000 values, 1,000,000 items, 10,000 diagnostics. */
export const DEFAULT_LIMITS: Limits = {
  frameLength: 16 * 1024 * 1024,
  jsonDepth: 200,
  numberLength: 4_096,
  documentValues: 1_000_000,
  ledgerItems: 1_000_000,
  diagnostics: 10_000,
}

/** Fills what is absent from {@link DEFAULT_LIMITS}. */
export function withDefaults(limits: Partial<Limits> | undefined): Limits {
  return limits === undefined ? DEFAULT_LIMITS : { ...DEFAULT_LIMITS, ...limits }
}
