/** What every entry of this package asks of its options, before anything is done with them. */
import { UsageError, type Limits, type Mode } from '@millrace/protocol'

const MODES: ReadonlySet<unknown> = new Set<Mode>(['strict', 'tolerant', 'report'])

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @throws UsageError `bad-options`, saying what `what` has to be. */
export function checkOptions(options: unknown, what: string): void {
  if (!isRecord(options)) throw new UsageError('bad-options', `${what} have to be an object, or be left out.`)
}

/** @throws UsageError `bad-mode`. */
export function checkMode(mode: unknown): void {
  if (mode === undefined || MODES.has(mode)) return
  throw new UsageError('bad-mode', `There is no mode "${String(mode)}". Give 'strict', 'tolerant' or 'report'.`)
}

/**
 * A limit that is NaN or absent is never passed, and one below zero always is.
 * @throws UsageError `bad-limit`.
 */
export function checkLimits(limits: Partial<Limits> | undefined): void {
  if (limits === undefined) return
  if (!isRecord(limits)) throw new UsageError('bad-limit', '`limits` has to be an object, such as { frameLength: 65536 }.')
  for (const [name, value] of Object.entries(limits)) {
    if (typeof value === 'number' && value >= 0) continue
    throw new UsageError('bad-limit', `limits.${name} has to be a number of 0 or more; leave it out for the default.`)
  }
}
