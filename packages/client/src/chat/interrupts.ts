/** The agent's open questions and the answers gathered so far. It sends nothing and reads no clock. */
import { UsageError, type Interrupt, type ResumeEntry } from '@millrace/protocol'
import { isRecord } from '../checks.ts'
import type { InterruptAnswer } from './options.ts'

const NONE: readonly Interrupt[] = []

export class InterruptDesk {
  #answers = new Map<string, ResumeEntry>()

  /** Questions that wait for an answer. The same array if none was answered. */
  open(interrupts: readonly Interrupt[]): readonly Interrupt[] {
    if (this.#answers.size === 0) return interrupts
    const open = interrupts.filter(({ id }) => !this.#answers.has(id))
    return open.length === interrupts.length ? interrupts : open.length === 0 ? NONE : open
  }

  /**
   * The answers noted so far and this one, in the order of the questions. Notes nothing.
   * @throws UsageError `malformed-answer`, `unknown-interrupt`, `interrupt-expired`.
   */
  with(id: string, answer: InterruptAnswer, interrupts: readonly Interrupt[], now: number): ResumeEntry[] {
    if (!isRecord(answer)) throw malformed()
    const entry: ResumeEntry = {
      interruptId: id,
      status: answer.status,
      ...(answer.payload !== undefined && { payload: answer.payload }),
      ...(answer.metadata !== undefined && { metadata: answer.metadata }),
    }
    checkEntry(entry, interrupts, now)
    return interrupts.flatMap((interrupt) => (interrupt.id === id ? entry : (this.#answers.get(interrupt.id) ?? [])))
  }

  /** Notes these answers in the place of those before. */
  take(entries: readonly ResumeEntry[]): void {
    this.#answers = new Map(entries.map((entry) => [entry.interruptId, entry]))
  }

  /** The answers have done their work, or were not heard: either way what is open now has to be asked anew. */
  forget(): void {
    this.#answers.clear()
  }
}

/**
 * Holds a complete set of answers against the open questions (AG-UI 1.0, interrupts: every one has to be answered).
 * @throws UsageError `malformed-answer`, `unknown-interrupt`, `duplicate-answer`, `interrupt-expired`, `unanswered-interrupts`.
 */
export function checkEntries(entries: readonly ResumeEntry[], interrupts: readonly Interrupt[], now: number): void {
  if (!Array.isArray(entries) || entries.some((entry) => !isRecord(entry))) throw malformed()
  const seen = new Set<string>()
  for (const entry of entries) {
    checkEntry(entry, interrupts, now)
    if (seen.has(entry.interruptId)) {
      throw new UsageError('duplicate-answer', `Interrupt "${entry.interruptId}" is answered twice.`)
    }
    seen.add(entry.interruptId)
  }
  const missing = interrupts.filter(({ id }) => !seen.has(id))
  if (missing.length > 0) {
    throw new UsageError(
      'unanswered-interrupts',
      `Every open interrupt needs an answer; missing: ${missing.map(({ id }) => `"${id}"`).join(', ')}. To abandon one, ` +
        "answer it with status 'cancelled'.",
    )
  }
}

/** @throws UsageError `interrupts-pending` if a question is open. */
export function requireAnswered(questions: readonly Interrupt[]): void {
  if (questions.length === 0) return
  throw new UsageError(
    'interrupts-pending',
    `The agent waits for an answer to ${questions.map(({ id }) => `"${id}"`).join(', ')}. Call respond() for each first; ` +
      "status 'cancelled' abandons it.",
  )
}

function checkEntry(entry: ResumeEntry, interrupts: readonly Interrupt[], now: number): void {
  if (entry.status !== 'resolved' && entry.status !== 'cancelled') throw malformed()
  const interrupt = interrupts.find(({ id }) => id === entry.interruptId)
  if (interrupt === undefined) {
    const ids = interrupts.map(({ id }) => `"${id}"`).join(', ')
    throw new UsageError(
      'unknown-interrupt',
      `No interrupt "${entry.interruptId}" is open${ids === '' ? '; none is' : `; open: ${ids}`}.`,
    )
  }
  if (entry.status === 'resolved' && isExpired(interrupt, now)) {
    throw new UsageError(
      'interrupt-expired',
      `Interrupt "${interrupt.id}" expired at ${interrupt.expiresAt}; it can only be answered with status 'cancelled'.`,
    )
  }
}

function malformed(): UsageError {
  return new UsageError(
    'malformed-answer',
    "An answer has a status, 'resolved' or 'cancelled', and may have a payload; resume() takes a list of them with their interruptId.",
  )
}

/** A time that is no date never passes: producers disagree about its format, and a wrong guess would lock the user out. */
export function isExpired(interrupt: Interrupt, now: number): boolean {
  return interrupt.expiresAt !== undefined && Date.parse(interrupt.expiresAt) <= now
}
