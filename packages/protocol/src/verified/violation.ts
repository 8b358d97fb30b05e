/** A broken rule, as data: what the checks return and the verifier turns into an error or a diagnostic. */
import type { Finding } from '../diagnostics.ts'
import type { RuleId } from '../severities.ts'

export interface Violation extends Finding {
  readonly rule: RuleId
}
