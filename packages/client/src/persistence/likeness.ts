/** A chat → what is stored of it, and back into a chat. It stores nothing and decides nothing. */
import { toMessages, toUIMessages, type Message, type Run, type Thread, type ToolMessage, type UIMessage } from '@millrace/protocol'
import type { KeptChat, Recalled } from '../chat/keeper.ts'
import type { LeftRun, ThreadBase } from '../chat/left-run.ts'
import { openCallIds } from '../chat/open-calls.ts'
import type { StoredRun } from '../chat/told-runs.ts'
import { withoutValues, withTexts } from '../output/stored-outputs.ts'
import { STORED_VERSION, type ReadThread, type StoredBase, type StoredThread } from './stored-thread.ts'

/** All of the chat; undefined before it has an id. */
export function likenessOf({ threadId: named, conversation, runner }: KeptChat): StoredThread | undefined {
  const threadId = named()
  if (threadId === undefined) return undefined
  const { thread, messages } = conversation
  const { unfinished, begun, foreign } = runner
  return {
    version: STORED_VERSION,
    threadId,
    content: { messages: withoutValues(messages), state: thread.state },
    interrupts: thread.interrupts,
    runs: runsThatMatter(thread.runs),
    ...(unfinished !== undefined && {
      run: { runId: unfinished.runId, seen: unfinished.seen, base: baseOf(unfinished.base, thread) },
    }),
    ...(begun.length > 0 && { begun }),
    ...(foreign && { foreign }),
  }
}

/**
 * What the server does not tell of the thread: which one it is, who asked the open questions, what is under way, what our tools did.
 * @param known what was stored before: of calls that were begun in another tab this one may know nothing.
 */
export function pointerTo({ threadId: named, conversation, runner }: KeptChat, known: ReadThread | undefined): StoredThread | undefined {
  const threadId = named()
  if (threadId === undefined) return undefined
  const { interrupts, runs } = conversation.thread
  const { unfinished, foreign } = runner
  const results = resultsLeft(conversation.thread)
  const open = openCallIds(conversation.thread.messages)
  const begun = [...new Set([...runner.begun, ...(known?.begun ?? []).filter((id) => open.has(id))])]
  return {
    version: STORED_VERSION,
    threadId,
    interrupts,
    runs: runsThatMatter(runs),
    ...(unfinished !== undefined && { run: { runId: unfinished.runId, seen: 0 } }),
    ...(begun.length > 0 && { begun }),
    ...(results.length > 0 && { results }),
    ...(foreign && { foreign }),
  }
}

/**
 * Results of calls that the last run left: nobody has gone on with them, so the server may not know them. A run that was stopped or
 * failed does not say which calls it left.
 */
export function resultsLeft({ messages, runs }: Thread): readonly ToolMessage[] {
  const { outcome, pendingToolCallIds } = runs.at(-1) ?? {}
  const pending = new Set(pendingToolCallIds)
  const left = outcome === 'finished' || outcome === 'interrupted' ? messages : messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
  return left.filter((message): message is ToolMessage => message.role === 'tool' && (left !== messages || pending.has(message.toolCallId)))
}

/** What was stored of the calls that this run left; undefined if it was not one of ours. */
export function recalledFrom({ run, runs, begun = [], results = [], foreign }: ReadThread, runId: string): Recalled | undefined {
  return foreign !== true && [run?.runId, runs.at(-1)?.runId].includes(runId) ? { begun, results } : undefined
}

/** Of a thread whose server does not tell how its runs ended: whether these ended so that a call which is open there waits for us. */
export function leaveCalls(runs: readonly StoredRun[], messages: readonly Message[]): boolean {
  const { outcome, pendingToolCallIds = [] } = runs.at(-1) ?? {}
  if (outcome !== 'finished' || pendingToolCallIds.length === 0) return false
  const open = new Set<string>()
  for (const message of messages) {
    // What was said behind a call has closed it.
    if (message.role === 'user') open.clear()
    else if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) open.add(id)
  }
  return pendingToolCallIds.every((id) => open.has(id))
}

/** The last run (it may have left calls) and the one that asked: its id is the parent of the answer. */
export function runsThatMatter(runs: readonly Run[]): StoredRun[] {
  const over = runs.filter(({ outcome }) => outcome !== 'running')
  const asked = over.findLast(({ outcome }) => outcome === 'interrupted')
  const last = over.at(-1)
  return [...(asked !== undefined && asked !== last ? [asked] : []), ...(last === undefined ? [] : [last])].map(
    // Without what a run gave: the thread has it, and a result may be long.
    ({ result: _result, usage: _usage, ...rest }) => rest,
  )
}

/** Made once for each base: made again, the turn that the run went on with would lose its identity in the view. */
const basesShown = new WeakMap<readonly Message[], readonly UIMessage[]>()

function baseOf({ messages, state, interrupts, runs }: ThreadBase, shown: Thread): StoredBase {
  const before = basesShown.get(messages) ?? toUIMessages(messages)
  basesShown.set(messages, before)
  const now = toUIMessages(shown.messages)
  let kept = 0
  while (kept < before.length && before[kept] === now[kept]) kept++
  return { kept, messages: before.slice(kept), state, interrupts, runs: runsThatMatter(runs) }
}

/** Whether a stored thread has one of these messages not at all, or otherwise. */
export function lacks({ content }: ReadThread, said: readonly Message[]): boolean {
  const theirs = new Map(toMessages(content?.messages ?? []).map((message) => [message.id, JSON.stringify(message)]))
  return said.some((message) => theirs.get(message.id) !== JSON.stringify(message))
}

/** A thread as it was stored, for a chat: what is shown, and the run that may be read again. */
export interface Restored {
  readonly thread: ThreadBase
  readonly left: LeftRun | undefined
}

/** Undefined if the content was not stored. Dates are noted in the chat. */
export function restoredIn({ conversation }: KeptChat, { threadId, content, interrupts, runs, run, foreign }: ReadThread): Restored | undefined {
  if (content === undefined) return undefined
  const thread: ThreadBase = { messages: conversation.adopt(content.messages), state: content.state, interrupts, runs }
  if (run?.base === undefined) return { thread, left: undefined }
  const { kept, messages, ...base } = run.base
  const before = toMessages(withTexts([...content.messages.slice(0, kept), ...messages]))
  const told: ThreadBase = { messages: before, state: base.state, interrupts: base.interrupts, runs: base.runs }
  const left: LeftRun = { threadId, runId: run.runId, seen: run.seen, base: told, ...(foreign && { foreign }) }
  return { thread, left }
}
