/**
 * What becomes of an event that breaks a rule. In strict reading, which is what the core knows, the run ends there; any
 * other answer is a `Leniency`, handed in by who names it (`tolerance.ts`, `report.ts`).
 */
import { UsageError } from '../errors.ts'
import type { Event } from '../events/event.ts'
import { isObject } from '../json-value.ts'
import type { RuleId, Severity } from '../severities.ts'
import type { Ledger } from './ledger.ts'

/** What is done instead of ending the run. */
export interface Verdict {
  /** The rule that is reported, and how bad it is. */
  readonly reports: RuleId
  readonly severity: Severity
  /** `skip`: the event is left out. `accept`: it passes, and the run is as open as before. `reopen`: it passes, and the run goes on. */
  readonly effect: 'skip' | 'accept' | 'reopen'
}

/** How a stream is read that breaks rules: `tolerantMode` or `reportMode`. */
export interface Leniency {
  /** `absent`: null is read as absent where an optional field cannot hold it. */
  readonly nulls: 'malformed' | 'absent'
  /** An event that is malformed is left out, and the stream goes on. */
  readonly skipsMalformed: boolean
  /** @returns undefined if the run ends here. */
  judge(broken: RuleId, event: Event, ledger: Ledger): Verdict | undefined
}

/**
 * @param mode as an option gives it; undefined is strict.
 * @throws UsageError `bad-mode` for the name of a mode: it would have to load them all.
 */
export function leniencyOf(mode: 'strict' | Leniency | undefined): Leniency | undefined {
  if (mode === undefined || mode === 'strict') return undefined
  if (!isObject(mode)) throw new UsageError('bad-mode', `"${String(mode)}" is no mode here. Import \`tolerantMode\` or \`reportMode\`, or use compatible(mode).`)
  return mode
}
