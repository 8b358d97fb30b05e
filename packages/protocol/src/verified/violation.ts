/** A broken rule, as data: what the checks return and the verifier turns into an error or a diagnostic. */
import { present } from '../json-value.ts'
import type { RuleId } from '../severities.ts'

export interface Violation {
  readonly rule: RuleId
  readonly message: string
  readonly pointer?: string
  /** Index of the event that opened what this one collides with. */
  readonly related?: number
}

export function violation(rule: RuleId, message: string, pointer?: string, related?: number): Violation {
  return {
    rule,
    message,
    ...present({ pointer }),
    ...(related !== undefined && related >= 0 && { related }),
  }
}
