/** A turn of ours that failed: what was not delivered, and what is needed to send it again. It sends nothing. */
import { isToolRequest, type ResumeEntry, type Thread } from '@millrace/protocol'
import { mayPass } from '../connection/retry.ts'
import type { Conversation } from './conversation.ts'
import type { ThreadBase } from './left-run.ts'
import type { Start } from './run-context.ts'
import { toolReplies } from './tool-replies.ts'
import type { Turn } from './turn.ts'

/** A turn as it was sent. */
export interface SentTurn {
  readonly turn: Pick<Turn, 'seen' | 'namedRunId'>
  readonly start: Start
  readonly base: ThreadBase
  /** Answers to interrupts that it was sent with, maybe none; absent if it was not sent but joined. */
  readonly resume?: readonly ResumeEntry[]
  /** Calls that were answered before it. */
  readonly answered: Conversation['answered']
}

export interface FailedTurn extends SentTurn {
  readonly resume: readonly ResumeEntry[]
  /** Calls that were answered while it went on. */
  readonly given: Conversation['answered']
  /** The thread as it left it: once something else was done there is nothing to send again. */
  readonly after: Thread
  /** Its run, if that may go on at the server. */
  readonly runId: string | undefined
}

/** Undefined if the turn was not ours, or went well: one that was gone on with too often is not sent again. */
export function failedTurn(sent: SentTurn, given: Conversation['answered'], after: Thread, error: Error): FailedTurn | undefined {
  const { turn, resume } = sent
  const outcome = after.runs.at(-1)?.outcome
  if (resume === undefined || outcome === 'finished' || outcome === 'interrupted') return undefined
  return { ...sent, resume, given, after, runId: mayPass(error) ? turn.namedRunId : undefined }
}

/**
 * The answers to interrupts that a turn is sent again with: what was said since goes before what it was sent with.
 * @param replies those of the user since it failed.
 */
export function answersAgain({ base, resume, given }: FailedTurn, replies: ReadonlyMap<string, ResumeEntry>): readonly ResumeEntry[] {
  const since = new Map([...toolReplies(base.interrupts, given).map((entry) => [entry.interruptId, entry] as const), ...replies])
  return resume.map((entry) => since.get(entry.interruptId) ?? entry)
}

/** Messages of the user that a turn was to bring, if nothing was heard of it. */
export function unsentBy({ turn, base: { messages }, resume }: SentTurn): readonly string[] {
  if (resume === undefined || turn.seen > 0) return []
  return messages.slice(messages.findLastIndex(({ role }) => role !== 'user') + 1).map(({ id }) => id)
}

/**
 * Calls that were answered before a turn that failed, or while it went on, if they still count. Where the user is asked beside them they do; where
 * nothing else is asked they are asked for again, or nobody would see that something is open.
 */
export function answersKept({ answered }: SentTurn, given: Conversation['answered'], { interrupts }: Thread): Conversation['answered'] {
  return interrupts.some((interrupt) => !isToolRequest(interrupt)) ? new Map([...answered, ...given]) : new Map()
}
