/**
 * Answers to an agent's interrupts, as the next run input carries them (AG-UI 1.0, interrupts). All rules about what may
 * be answered are here; it sends nothing, remembers nothing and reads no clock: `now` is given.
 */
import { UsageError } from '../errors.ts'
import type { Interrupt, ResumeEntry } from '../events/event.ts'
import { isObject } from '../json-value.ts'

/**
 * Holds the payload of an answer against the `responseSchema` (JSON Schema) of its interrupt.
 * @returns what is wrong, for people, or undefined if it is as the schema asks.
 */
export type PayloadCheck = (
  schema: Readonly<Record<string, unknown>>,
  payload: unknown,
  interrupt: Interrupt,
) => string | undefined

/** What is said to one interrupt; `payload` is the answer itself, for `resolved`. */
export type InterruptReply = Omit<ResumeEntry, 'interruptId'>

/**
 * Whether an interrupt can only be cancelled any more: its `expiresAt` is `now` or earlier. A time that is no date
 * never passes: producers disagree about its format, and a wrong guess would lock the user out.
 * @param now milliseconds since 1970, as `Date.now()` gives them.
 */
export function isExpired(interrupt: Pick<Interrupt, 'expiresAt'>, now: number): boolean {
  return interrupt.expiresAt !== undefined && Date.parse(interrupt.expiresAt) <= now
}

/**
 * One answer as the entry of a run input: `payload` and `metadata` that are null or undefined are left out, and so is
 * everything an entry has no field for.
 * @param interrupts the questions that are open.
 * @param check asked for a `resolved` answer to an interrupt that has a `responseSchema`.
 * @throws UsageError `malformed-answer`, `unknown-interrupt`, `interrupt-expired`.
 */
export function resumeEntry(
  interruptId: string,
  answer: InterruptReply,
  interrupts: readonly Interrupt[],
  now: number,
  check?: PayloadCheck,
): ResumeEntry {
  if (!isObject(answer)) throw malformed()
  const { status, payload, metadata } = answer as InterruptReply
  if (status !== 'resolved' && status !== 'cancelled') throw malformed()
  const interrupt = interrupts.find(({ id }) => id === interruptId)
  if (interrupt === undefined) throw unknown(interruptId, interrupts)
  if (status === 'resolved') {
    if (isExpired(interrupt, now)) {
      throw new UsageError(
        'interrupt-expired',
        `Interrupt "${interrupt.id}" expired at ${interrupt.expiresAt}; it can only be answered with status 'cancelled'.`,
      )
    }
    const { id, responseSchema } = interrupt
    const refused = responseSchema === undefined ? undefined : check?.(responseSchema, payload, interrupt)
    if (refused !== undefined) {
      throw new UsageError('malformed-answer', `The answer to interrupt "${id}" is not what it asks for: ${refused}`)
    }
  }
  return {
    interruptId,
    status,
    ...(payload !== undefined && payload !== null && { payload }),
    ...(metadata !== undefined && metadata !== null && { metadata }),
  }
}

/**
 * The `resume` of the next run input: an entry for every open interrupt (one for each id), in the order of the interrupts, or an error
 * and nothing (AG-UI 1.0: an interrupt without an entry is not abandoned, so a run must not start without one).
 * @param interrupts the questions that are open: `Thread.interrupts`.
 * @param answers one for each, in any order.
 * @param now milliseconds since 1970; see {@link isExpired}.
 * @param check see {@link resumeEntry}.
 * @throws UsageError `malformed-answer`, `unknown-interrupt`, `duplicate-answer`, `interrupt-expired`,
 * `unanswered-interrupts`.
 */
export function buildResume(
  interrupts: readonly Interrupt[],
  answers: readonly ResumeEntry[],
  now: number,
  check?: PayloadCheck,
): ResumeEntry[] {
  if (!Array.isArray(answers)) throw malformed()
  const entries = new Map<string, ResumeEntry>()
  for (const answer of answers as readonly ResumeEntry[]) {
    const { interruptId } = Object(answer) as ResumeEntry
    const entry = resumeEntry(interruptId, answer, interrupts, now, check)
    if (entries.has(interruptId)) {
      throw new UsageError('duplicate-answer', `Interrupt "${interruptId}" is answered twice.`)
    }
    entries.set(interruptId, entry)
  }
  const missing = interrupts.filter(({ id }) => !entries.has(id))
  if (missing.length > 0) {
    throw new UsageError(
      'unanswered-interrupts',
      `Every open interrupt needs an answer; missing: ${quoted(missing)}. To abandon one, answer it with status ` +
        "'cancelled'.",
    )
  }
  return [...new Set(interrupts.map(({ id }) => id))].map((id) => entries.get(id) as ResumeEntry)
}

function quoted(interrupts: readonly Interrupt[]): string {
  return interrupts.map(({ id }) => `"${id}"`).join(', ')
}

function unknown(id: string, interrupts: readonly Interrupt[]): UsageError {
  return new UsageError(
    'unknown-interrupt',
    `No interrupt "${id}" is open${interrupts.length === 0 ? '; none is' : `; open: ${quoted(interrupts)}`}.`,
  )
}

function malformed(): UsageError {
  return new UsageError(
    'malformed-answer',
    "An answer has an interruptId and a status, 'resolved' or 'cancelled', and may have a payload; they come as a list.",
  )
}
