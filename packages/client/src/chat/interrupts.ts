/**
 * The agent's open questions and the answers gathered so far. It sends nothing and reads no clock; what may be answered is the
 * protocol's to say (`buildResume`).
 */
import { checkPayload, isToolRequest, resumeEntry, UsageError, type Interrupt, type PayloadCheck, type ResumeEntry } from '@millrace/protocol'
import type { InterruptAnswer } from './options.ts'

const NONE: readonly Interrupt[] = []

export class InterruptDesk {
  #answers: ReadonlyMap<string, ResumeEntry> = new Map()
  #last: readonly Interrupt[] = NONE

  /** Answers by the id of their question; another map when they change. */
  get replies(): ReadonlyMap<string, ResumeEntry> {
    return this.#answers
  }

  /**
   * Questions that wait for an answer. The same array if none was answered.
   * @param replies what tools answer.
   */
  open(interrupts: readonly Interrupt[], replies: readonly ResumeEntry[] = []): readonly Interrupt[] {
    if (this.#answers.size === 0 && replies.length === 0) return interrupts
    const answered = new Set([...this.#answers.keys(), ...replies.map(({ interruptId }) => interruptId)])
    const open = interrupts.filter(({ id }) => !answered.has(id))
    return open.length === interrupts.length ? interrupts : open.length === 0 ? NONE : this.#same(open)
  }

  #same(open: readonly Interrupt[]): readonly Interrupt[] {
    const last = this.#last
    if (open.length !== last.length || open.some((interrupt, index) => interrupt !== last[index])) this.#last = open
    return this.#last
  }

  /**
   * The answers noted so far and this one, in the order of the questions. Notes nothing.
   * @throws UsageError `malformed-answer`, `unknown-interrupt`, `interrupt-expired`.
   */
  with(id: string, answer: InterruptAnswer, interrupts: readonly Interrupt[], now: number): ResumeEntry[] {
    const entry = resumeEntry(id, answer, interrupts, now, checkAnswer)
    return interrupts.flatMap((interrupt) => (interrupt.id === id ? entry : (this.#answers.get(interrupt.id) ?? [])))
  }

  /** Notes these answers in the place of those before. */
  take(entries: readonly ResumeEntry[]): void {
    this.#answers = new Map(entries.map((entry) => [entry.interruptId, entry]))
  }

  /** The answers have done their work, or were not heard: either way what is open now has to be asked anew. */
  forget(): void {
    if (this.#answers.size > 0) this.#answers = new Map()
  }
}

/** Holds an answer against its schema; that of a tool may be its error, for which the schema of its results has no word. */
export const checkAnswer: PayloadCheck = (schema, payload, interrupt) => (isToolRequest(interrupt) ? undefined : checkPayload(schema, payload, interrupt))

/** @throws UsageError `interrupts-pending` if something waits for the user's word: `asked` are the ids. */
export function requireAnswered(asked: readonly string[]): void {
  if (asked.length === 0) return
  throw new UsageError(
    'interrupts-pending',
    `The agent waits for an answer to ${asked.map((id) => `"${id}"`).join(', ')}. Call respond() for each first, or approve(); ` +
      "status 'cancelled' abandons an interrupt.",
  )
}
