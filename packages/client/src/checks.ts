/** What every entry of this package asks of its options, before anything is done with them. */
import { UsageError, type Limits } from '@millrace/protocol'

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @throws UsageError `bad-options`, saying what `what` has to be. */
export function checkOptions(options: unknown, what: string): void {
  if (!isRecord(options)) throw new UsageError('bad-options', `${what} have to be an object, or be left out.`)
}

/** What an option has to be, and how that is said. */
export type Check = readonly [holds: (value: unknown) => boolean, what: string]

export const FUNCTION: Check = [(value) => typeof value === 'function', 'a function']
export const TEXT: Check = [(value) => typeof value === 'string', 'text']
export const LIST: Check = [Array.isArray, 'a list']
export const RECORD: Check = [isRecord, 'an object']
export const COUNT: Check = [(value) => typeof value === 'number' && value >= 0, 'a number of 0 or more']

export function oneOf(...values: readonly string[]): Check {
  return [(value) => values.includes(value as string), values.map((value) => `'${value}'`).join(' or ')]
}

/**
 * Holds the options that are given against what they have to be; others are nobody's concern.
 * @throws UsageError `bad-options`, naming the option.
 */
export function checkFields(options: object, checks: Readonly<Record<string, Check>>): void {
  for (const [name, [holds, what]] of Object.entries(checks)) {
    const value = (options as Record<string, unknown>)[name]
    if (value !== undefined && !holds(value)) throw new UsageError('bad-options', `\`${name}\` has to be ${what}; leave it out for the default.`)
  }
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
