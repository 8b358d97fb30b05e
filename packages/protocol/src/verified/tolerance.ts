/**
 * The tolerant mode's table: deviations of real servers that lose nothing. Each row names the peer and the reason;
 * an event that breaks the row's rule under its condition is accepted, with a warning. Anything else ends the run.
 */
import type { Event } from '../events/event.ts'
import { isObject } from '../json-value.ts'
import { TOLERATED, type RuleId } from '../severities.ts'
import type { Ledger } from './ledger.ts'
import type { Leniency } from './leniency.ts'
import { stepKey, tagOf } from './subject.ts'

/** One known deviation: what it excuses, whose it is, why it loses nothing, and when it is met. */
export interface Tolerance {
  /** The rule it excuses. */
  readonly excuses: RuleId
  /** What is reported instead. */
  readonly warns: keyof typeof TOLERATED
  readonly peer: string
  readonly reason: string
  /** `reopen`: the run goes on. `accept`: the event passes, without effect on what is open. */
  readonly effect: 'reopen' | 'accept'
  when(event: Event, ledger: Ledger): boolean
}

/** What a server of before interrupts asks of its client, in the spelling of TanStack AI: an approval, or to run a tool. */
export function asksOfClient(event: Event): boolean {
  return event.type === 'CUSTOM' && (event.name === 'approval-requested' || event.name === 'tool-input-available')
}

/** TanStack AI says why a model turn ended in the event's metadata. */
function finishedForTools({ ended }: Ledger): boolean {
  const tanstack = ended?.type === 'RUN_FINISHED' ? ended.metadata?.['tanstack'] : undefined
  return isObject(tanstack) && tanstack['finishReason'] === 'tool_calls'
}

/** All that tolerant mode lets pass; the first row that fits counts. */
export const TOLERANCES: readonly Tolerance[] = [
  {
    excuses: 'run.first-event',
    warns: 'tolerated.note-before-run',
    peer: '@tanstack/ai 0.58, durable streams',
    reason: 'The log of a run begins with CUSTOM `run.accepted`, before the RUN_STARTED of the model turn.',
    effect: 'accept',
    when: (event) => event.type === 'CUSTOM',
  },
  {
    excuses: 'run.first-event',
    warns: 'tolerated.result-before-run',
    peer: '@tanstack/ai 0.58, answers to interrupts',
    reason: 'Tool results come before RUN_STARTED.',
    effect: 'accept',
    when: (event) => event.type === 'TOOL_CALL_RESULT',
  },
  {
    excuses: 'run.after-finish',
    warns: 'tolerated.ask-after-run',
    peer: '@tanstack/ai, versions that ask by CUSTOM events',
    reason: 'What it asks of the client (an approval, a call) comes behind the RUN_FINISHED of the model turn, as the last of the run.',
    effect: 'accept',
    when: asksOfClient,
  },
  {
    excuses: 'run.after-finish',
    warns: 'tolerated.run-goes-on',
    peer: '@tanstack/ai 0.58, chat() with server tools',
    reason: 'One RUN_STARTED, then a RUN_FINISHED for each model turn; tool results and the next turn follow it.',
    effect: 'reopen',
    when: (_event, ledger) => finishedForTools(ledger),
  },
  {
    excuses: 'run.after-finish',
    warns: 'tolerated.run-goes-on',
    peer: '@tanstack/ai, versions that do not say why a turn ended',
    reason: 'A result for a call of the run that has just finished can belong nowhere else.',
    effect: 'reopen',
    when: (event, ledger) => event.type === 'TOOL_CALL_RESULT' && ledger.get('tool', event.toolCallId) !== undefined,
  },
  {
    excuses: 'run.nested',
    warns: 'tolerated.run-goes-on',
    peer: '@tanstack/ai 0.49, chat() with server tools',
    reason: 'Tool results come after RUN_FINISHED, and only then the RUN_STARTED of the next model turn.',
    effect: 'reopen',
    when: (event, ledger) => event.type === 'RUN_STARTED' && ledger.reopened && ledger.openItems.size === 0,
  },
  {
    excuses: 'step.close',
    warns: 'tolerated.step-closed-twice',
    peer: '@tanstack/ai 0.58 with @tanstack/ai-openai, reasoning',
    reason: 'The thinking step is finished when the thought ends, and again when the text does.',
    effect: 'accept',
    when: (event, ledger) =>
      event.type === 'STEP_FINISHED' && ledger.get('step', stepKey(tagOf(event), event.stepName)) !== undefined,
  },
]

/** The first violation ends the run, as in strict reading, but the rows of {@link TOLERANCES} pass with a warning. */
export const tolerantMode: Leniency = {
  nulls: 'absent',
  skipsMalformed: false,
  judge(broken, event, ledger) {
    const row = TOLERANCES.find(({ excuses, when }) => excuses === broken && when(event, ledger))
    return row && { reports: row.warns, severity: TOLERATED[row.warns], effect: row.effect }
  },
}
