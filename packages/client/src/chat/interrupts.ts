/**
 * The agent's open questions and the answers gathered so far. It sends nothing and reads no clock; what may be answered is the
 * protocol's to say (`buildResume`).
 */
import { resumeEntry, UsageError, type Interrupt, type ResumeEntry } from '@millrace/protocol'
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
    const entry = resumeEntry(id, answer, interrupts, now)
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

/** @throws UsageError `interrupts-pending` if a question is open. */
export function requireAnswered(questions: readonly Interrupt[]): void {
  if (questions.length === 0) return
  throw new UsageError(
    'interrupts-pending',
    `The agent waits for an answer to ${questions.map(({ id }) => `"${id}"`).join(', ')}. Call respond() for each first; ` +
      "status 'cancelled' abandons it.",
  )
}
