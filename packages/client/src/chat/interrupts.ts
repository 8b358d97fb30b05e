/** The agent's open questions and the answers gathered so far. It sends nothing and reads no clock. */
import { UsageError, type Interrupt, type ResumeEntry } from '@millrace/protocol'
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
   * Notes an answer; the entries for all questions once every one is answered, else undefined.
   * @throws UsageError `unknown-interrupt`, `interrupt-expired`.
   */
  answer(id: string, answer: InterruptAnswer, interrupts: readonly Interrupt[], now: number): ResumeEntry[] | undefined {
    const entry: ResumeEntry = {
      interruptId: id,
      status: answer.status,
      ...(answer.payload !== undefined && { payload: answer.payload }),
      ...(answer.metadata !== undefined && { metadata: answer.metadata }),
    }
    checkEntry(entry, interrupts, now)
    this.#answers.set(id, entry)
    const entries = interrupts.flatMap((interrupt) => this.#answers.get(interrupt.id) ?? [])
    return entries.length === interrupts.length ? entries : undefined
  }

  /** Notes a whole set of answers. */
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
 * @throws UsageError `unknown-interrupt`, `duplicate-answer`, `interrupt-expired`, `unanswered-interrupts`.
 */
export function checkEntries(entries: readonly ResumeEntry[], interrupts: readonly Interrupt[], now: number): void {
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

function checkEntry(entry: ResumeEntry, interrupts: readonly Interrupt[], now: number): void {
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

/** A time that is no date never passes: producers disagree about its format, and a wrong guess would lock the user out. */
export function isExpired(interrupt: Interrupt, now: number): boolean {
  return interrupt.expiresAt !== undefined && Date.parse(interrupt.expiresAt) <= now
}
