/** The report mode: what breaks a rule is reported and skipped, and the stream goes on. */
import type { RuleId } from '../severities.ts'
import type { Leniency } from './leniency.ts'
import { asksOfClient } from './tolerance.ts'

/** These events pass all the same: to skip them would make all that follows wrong. */
const PASSES: ReadonlySet<RuleId> = new Set<RuleId>([
  'run.first-event',
  'run.nested',
  'run.after-finish',
  'run.after-error',
  'finish.all-closed',
  'attr.continuation',
  'attr.reopen',
  'attr.tool-parent',
  'attr.encrypted',
  'sub.parent',
])

/** Violations are reported and the stream goes on. */
export const reportMode: Leniency = {
  nulls: 'malformed',
  skipsMalformed: true,
  judge(broken, event) {
    // What comes ahead of a run begins none: RUN_STARTED is still to come. What is asked behind one reopens none.
    const aside = broken === 'run.first-event' ? event.type === 'CUSTOM' || event.type === 'TOOL_CALL_RESULT' : asksOfClient(event)
    return { reports: broken, severity: 'error', effect: !PASSES.has(broken) ? 'skip' : aside ? 'accept' : 'reopen' }
  },
}
