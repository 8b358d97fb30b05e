/**
 * The ids of all rules, and how bad it is to break each: what the reading path itself needs to know. What the rules say is
 * in `rules.ts`, which only those load who show it.
 *
 * Ids follow the sections of AG-UI 1.0: `frame.*` bytes, `event.*` enforcement, `run|text|tool|…` order,
 * `attr.*` ownership, `sub.*` subagents, `tolerated.*` known deviations, `hygiene.*` style, `state.*` the fold.
 */

/** How bad a finding is. */
export type Severity = 'error' | 'warning' | 'info'

export const SEVERITIES = {
  // frames
  'frame.not-json': 'error',
  'frame.not-protobuf': 'error',
  'frame.truncated': 'error',
  'frame.too-long': 'error',
  'frame.done': 'info',

  // enforcement
  'event.malformed': 'error',
  'event.too-deep': 'error',
  'event.unknown-type': 'warning',
  'event.unknown-field': 'warning',
  'event.unknown-member': 'warning',
  'event.null-field': 'warning',
  'event.retired-shape': 'warning',
  'run.version': 'warning',

  // run
  'run.first-event': 'error',
  'run.nested': 'error',
  'run.after-finish': 'error',
  'run.after-error': 'error',
  'run.identity': 'warning',
  'run.truncated': 'error',
  'run.empty': 'error',
  'finish.all-closed': 'error',
  'run.ledger-full': 'error',

  // brackets
  'text.open': 'error',
  'text.continue': 'error',
  'tool.open': 'error',
  'tool.continue': 'error',
  'step.open': 'error',
  'step.close': 'error',
  'span.open': 'error',
  'span.close': 'error',
  'reasoning.open': 'error',
  'reasoning.continue': 'error',

  // chunks
  'chunk.opener': 'error',
  'chunk.ambiguous': 'error',
  'chunk.conflict': 'error',

  // ownership
  'attr.continuation': 'error',
  'attr.reopen': 'error',
  'attr.tool-parent': 'error',
  'attr.encrypted': 'error',

  // subagents
  'sub.start': 'error',
  'sub.parent': 'error',
  'sub.end': 'error',

  // tolerated deviations of real servers
  'tolerated.note-before-run': 'warning',
  'tolerated.result-before-run': 'warning',
  'tolerated.ask-after-run': 'warning',
  'tolerated.run-goes-on': 'warning',
  'tolerated.step-closed-twice': 'warning',

  // hygiene: legal, and worth a look (`check` only)
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

  // fold
  'state.patch-failed': 'warning',
  'state.null-baseline': 'warning',
  'state.no-target': 'warning',
  'state.result-id-taken': 'warning',
  'state.role-conflict': 'warning',
  'state.interrupt-repeated': 'warning',
} as const

/** Id of a rule. */
export type RuleId = keyof typeof SEVERITIES

export function severityOf(id: RuleId): Severity {
  return SEVERITIES[id]
}
