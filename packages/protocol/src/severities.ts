/**
 * The ids of all rules, and how bad it is to break each: what the reading path itself needs to know. What the rules say is
 * in `rules.ts`, which only those load who show it.
 *
 * Ids follow the sections of AG-UI 1.0: `frame.*` bytes, `event.*` enforcement, `run|text|tool|…` order,
 * `attr.*` ownership, `sub.*` subagents, `tolerated.*` known deviations, `hygiene.*` style, `state.*` the fold.
 */

/** How bad a finding is. */
export type Severity = 'error' | 'warning' | 'info'

/** What ends a run, unless the mode says otherwise. */
export type ErrorId =
  | 'frame.not-json'
  | 'frame.not-protobuf'
  | 'frame.truncated'
  | 'frame.too-long'
  | 'event.malformed'
  | 'event.too-deep'
  | 'run.first-event'
  | 'run.nested'
  | 'run.after-finish'
  | 'run.after-error'
  | 'run.truncated'
  | 'run.empty'
  | 'finish.all-closed'
  | 'run.ledger-full'
  | 'text.open'
  | 'text.continue'
  | 'tool.open'
  | 'tool.continue'
  | 'step.open'
  | 'step.close'
  | 'span.open'
  | 'span.close'
  | 'reasoning.open'
  | 'reasoning.continue'
  | 'chunk.opener'
  | 'chunk.ambiguous'
  | 'chunk.conflict'
  | 'attr.continuation'
  | 'attr.reopen'
  | 'attr.tool-parent'
  | 'attr.encrypted'
  | 'sub.start'
  | 'sub.parent'
  | 'sub.end'

/** All other findings of the reading path. */
const FINDINGS = {
  'frame.done': 'info',
  'event.unknown-type': 'warning',
  'event.unknown-field': 'warning',
  'event.unknown-member': 'warning',
  'event.null-field': 'warning',
  'event.retired-shape': 'warning',
  'run.version': 'warning',
  'run.identity': 'warning',
  'state.patch-failed': 'warning',
  'state.null-baseline': 'warning',
  'state.no-target': 'warning',
  'state.result-id-taken': 'warning',
  'state.role-conflict': 'warning',
  'state.interrupt-repeated': 'warning',
} as const

/** What is legal and still worth a look. `hygiene.ts` says it with what it finds, so that reading loads none of it. */
export const HYGIENE = {
  'hygiene.arguments-not-json': 'warning',
  'hygiene.result-without-call': 'warning',
  'hygiene.unknown-parent': 'info',
  'hygiene.stray-thread': 'info',
  'hygiene.run-id-reused': 'info',
  'hygiene.delta-before-snapshot': 'info',
  'hygiene.no-timestamps': 'info',
  'hygiene.custom-name': 'info',
  'hygiene.raw-wraps-event': 'info',
  'hygiene.empty-delta': 'info',
} as const

/** Known deviations of real servers that tolerant mode lets pass; `tolerance.ts` says it with each. */
export const TOLERATED = {
  'tolerated.note-before-run': 'warning',
  'tolerated.result-before-run': 'warning',
  'tolerated.ask-after-run': 'warning',
  'tolerated.run-goes-on': 'warning',
  'tolerated.step-closed-twice': 'warning',
} as const

/** Id of a rule. */
export type RuleId = ErrorId | keyof typeof FINDINGS | keyof typeof HYGIENE | keyof typeof TOLERATED

/** How bad a finding is of which nothing else is said. */
export function severityOf(id: RuleId): Severity {
  return FINDINGS[id as keyof typeof FINDINGS] ?? 'error'
}
