/** What a server tells of a thread → what a chat holds. It asks nobody and shows nothing. */
import { parseRunAgentInput, toMessages, wireToUiMessages, type Interrupt, type Message, type Thread, type ToolMessage, type WireMessage } from '@millrace/protocol'
import type { HydratedThread } from '../connection/adapter.ts'
import { isRecord } from '../checks.ts'
import { TransportError } from '../errors.ts'
import { list } from '../shapes.ts'
import { withTexts } from '../output/stored-outputs.ts'
import { reviveMessages } from './history.ts'
import type { StoredMessage } from './options.ts'
import { runFrom } from './told-runs.ts'

/**
 * The thread that a server has stored. Messages are AG-UI messages, held against their shapes, or UI messages with their
 * parts.
 * @throws TransportError `unexpected-answer` if they are neither, or the questions or runs are none.
 */
export function threadOf({ messages, state, interrupts, runs }: HydratedThread, threadId: string): Pick<Thread, 'messages' | 'state' | 'runs' | 'interrupts'> {
  // TanStack AI tells which run asked, and takes an answer only from a run that names it as its parent.
  const { runId, pending } = isRecord(interrupts) ? interrupts : { runId: undefined, pending: interrupts }
  return {
    messages: checked('messages', () => (messages.some(hasParts) ? fromParts(messages) : plain(messages))),
    state: state ?? {},
    runs: runs !== undefined ? checked('runs', () => list(runs, 'runs').map(runFrom)) : typeof runId === 'string' ? [{ threadId, runId, outcome: 'interrupted' }] : [],
    interrupts: pending === null || pending === undefined ? [] : checked('interrupts', () => questions(pending)),
  }
}

/**
 * When the messages of a thread that {@link threadOf} has read were made, by the ids under which they show: a message whose
 * parts become several is named after the first.
 */
export function datesOf(messages: readonly unknown[]): [id: string, createdAt: Date][] {
  return messages.flatMap((message) => {
    if (!isRecord(message) || message['createdAt'] === undefined) return []
    const [revived] = reviveMessages([hasParts(message) ? message : { ...message, parts: [] }] as unknown as StoredMessage[])
    if (revived?.createdAt === undefined) return []
    const { id, createdAt } = revived
    const first = toMessages([revived])[0]?.id ?? id
    return [[first, createdAt]]
  })
}

/** Whether messages that a server tells have all that these have, or more: no message is lost by taking them, and no letter. */
export function saysAll(told: readonly Message[], here: readonly Message[]): boolean {
  const known = new Map(told.map((message) => [message.id, message]))
  return here.every((message) => {
    // Results are kept by who takes them.
    if (message.role === 'tool') return true
    const there = known.get(message.id)
    if (there?.role !== message.role) return false
    if (message.role === 'user') return true
    if (typeof message.content === 'string' && !(typeof there.content === 'string' && there.content.startsWith(message.content))) return false
    const calls = new Set(there.role === 'assistant' ? there.toolCalls?.map(({ id }) => id) : [])
    return message.role !== 'assistant' || (message.toolCalls ?? []).every(({ id }) => calls.has(id))
  })
}

/** The messages of a thread that {@link threadOf} has read which came with their parts. */
export function inParts(messages: readonly unknown[]): readonly StoredMessage[] {
  return messages.filter(hasParts) as readonly StoredMessage[]
}

function hasParts(message: unknown): boolean {
  return isRecord(message) && Array.isArray(message['parts'])
}

function plain(messages: readonly unknown[]): Message[] {
  return parseRunAgentInput({ threadId: 'hydrated', runId: 'hydrated', messages }).messages as Message[]
}

/** Results of calls, as they were stored. Throws if they are none. */
export function toolResults(messages: unknown): ToolMessage[] {
  return plain(list(messages, 'results')).filter((message): message is ToolMessage => message.role === 'tool')
}

/** UI messages say all that is in them; AG-UI messages may stand between. */
function fromParts(messages: readonly unknown[]): Message[] {
  const bare = messages.filter((message) => !hasParts(message))
  const sound = new Map(plain(bare).map((message) => [message.id, message]))
  const whole = messages.flatMap((message) => {
    if (hasParts(message)) return [message]
    const kept = sound.get((message as Message).id)
    return kept === undefined ? [] : [kept]
  })
  return toMessages(withTexts(reviveMessages(wireToUiMessages(whole as WireMessage[]) as readonly StoredMessage[])))
}

/** Open questions, as they were told or stored. Throws if they are none. */
export function questions(interrupts: unknown): Interrupt[] {
  if (!Array.isArray(interrupts)) throw new Error('they are no list')
  return interrupts.map((interrupt) => {
    if (isRecord(interrupt) && typeof interrupt['id'] === 'string' && typeof interrupt['reason'] === 'string') return interrupt as unknown as Interrupt
    throw new Error('one has no id or no reason')
  })
}

function checked<Value>(what: string, read: () => Value): Value {
  try {
    return read()
  } catch (cause) {
    throw new TransportError(`The ${what} of the stored thread cannot be read: ${(cause as Error).message}`, { code: 'unexpected-answer', cause })
  }
}
