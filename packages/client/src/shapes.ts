/** Checks on values that others stored or told: each gives the value with its type, or throws an Error that says what is wrong. */
import { isRecord } from './checks.ts'

export function record(value: unknown, what: string): Record<string, unknown> {
  if (isRecord(value)) return value
  throw new Error(`${what} has to be an object`)
}

export function list(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new Error(`${what} has to be a list`)
}

export function text(value: unknown, what: string): string {
  if (typeof value === 'string') return value
  throw new Error(`${what} has to be text`)
}

export function texts(value: unknown, what: string): readonly string[] {
  return list(value, what).map((each) => text(each, `each of ${what}`))
}

export function natural(value: unknown, what: string): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
  throw new Error(`${what} has to be a whole number of 0 or more`)
}
