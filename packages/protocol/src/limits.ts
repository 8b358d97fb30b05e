/**
 * Every bound of this package, with its reason. All can be set; passing one gives a `ProtocolError` with code
 * `limit` that names it.
 */
export interface Limits {
  /** Longest frame, in UTF-16 units. A peer that never ends a line would otherwise fill the memory. */
  readonly frameLength: number
  /** Deepest nesting of open JSON (state, metadata, raw events). Walkers here and in applications recurse. */
  readonly jsonDepth: number
  /** Items (messages, calls, steps, subagents …) that one run may open. Bounds the ledger. */
  readonly ledgerItems: number
  /** Diagnostics kept by readers that collect them. A hostile stream could give one per field. */
  readonly diagnostics: number
}

/** 16 Mi units per frame, 200 levels, 1,000,000 items, 10,000 diagnostics. */
export const DEFAULT_LIMITS: Limits = {
  frameLength: 16 * 1024 * 1024,
  jsonDepth: 200,
  ledgerItems: 1_000_000,
  diagnostics: 10_000,
}

/** Fills what is absent from {@link DEFAULT_LIMITS}. */
export function withDefaults(limits: Partial<Limits> | undefined): Limits {
  return limits === undefined ? DEFAULT_LIMITS : { ...DEFAULT_LIMITS, ...limits }
}
