/**
 * The verified events as they come, outside React: bounded in number, told to the page at most once per frame.
 */
import type { VerifiedEvent } from '@millrace/protocol'
import { isRecord } from '../json-text.ts'

/** Older events are let go: a long stream must not make the page heavy. */
const kept = 400
const detailLength = 160

export const families = ['run', 'text', 'reasoning', 'tool', 'state', 'activity', 'other'] as const
export type Family = (typeof families)[number]

export interface LoggedEvent {
  /** Position since the page was opened; identity of a row. */
  readonly serial: number
  readonly event: VerifiedEvent
  readonly family: Family
  readonly detail: string
}

export interface EventLogSnapshot {
  readonly events: readonly LoggedEvent[]
  /** How many there were in all. */
  readonly total: number
}

export function familyOf(type: string): Family {
  if (type.startsWith('RUN_') || type.startsWith('STEP_')) return 'run'
  if (type.startsWith('TEXT_')) return 'text'
  if (type.startsWith('REASONING_')) return 'reasoning'
  if (type.startsWith('TOOL_')) return 'tool'
  if (type.startsWith('STATE_') || type === 'MESSAGES_SNAPSHOT') return 'state'
  return type.startsWith('ACTIVITY_') ? 'activity' : 'other'
}

/** The one thing about an event that tells it from its neighbours. */
export function detailOf(event: VerifiedEvent): string {
  const { type, ...fields } = event as VerifiedEvent & Record<string, unknown>
  const { delta, patch, snapshot, content, message, stepName, toolCallName, outcome, name, runId, messageId, toolCallId } =
    fields as Record<string, unknown>
  const operations = Array.isArray(delta) ? delta : patch
  if (Array.isArray(operations)) {
    return operations.flatMap((step) => (isRecord(step) ? [`${step['op']} ${step['path']}`] : [])).join(', ')
  }
  if (type === 'RUN_FINISHED') return isRecord(outcome) ? String(outcome['type']) : 'success'
  const telling = delta ?? snapshot ?? content ?? message ?? stepName ?? toolCallName ?? name ?? runId ?? messageId ?? toolCallId
  const text = typeof telling === 'string' && delta === undefined ? telling : JSON.stringify(telling)
  return (text ?? '').slice(0, detailLength)
}

export class EventStore {
  #snapshot: EventLogSnapshot = { events: [], total: 0 }
  #waiting: LoggedEvent[] = []
  #total = 0
  #scheduled = false
  readonly #listeners = new Set<() => void>()

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly getSnapshot = (): EventLogSnapshot => this.#snapshot

  readonly push = (event: VerifiedEvent): void => {
    this.#waiting.push({ serial: this.#total, event, family: familyOf(event.type), detail: detailOf(event) })
    this.#total += 1
    // A hidden page gets no frames; what waits is bounded too.
    if (this.#waiting.length > kept * 2) this.#waiting.splice(0, kept)
    if (this.#scheduled) return
    this.#scheduled = true
    requestAnimationFrame(this.#flush)
  }

  readonly clear = (): void => {
    this.#waiting = []
    this.#total = 0
    this.#publish([])
  }

  readonly #flush = (): void => {
    this.#scheduled = false
    const events = [...this.#snapshot.events, ...this.#waiting].slice(-kept)
    this.#waiting = []
    this.#publish(events)
  }

  #publish(events: readonly LoggedEvent[]): void {
    this.#snapshot = { events, total: this.#total }
    for (const listener of this.#listeners) listener()
  }
}
