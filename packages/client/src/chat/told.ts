/**
 * How what the server told of the thread stands to what is heard of it: whether something was missed since it was asked, and
 * whether a run that is heard is in what it told. It asks nobody.
 */
import type { LooseChunk, StreamChunk } from '../connection/adapter.ts'
import type { ThreadBase } from './left-run.ts'

/** Events that make a message or a call under an id of their own: one that is in the thread was made by this very run. */
const MAKERS: ReadonlySet<string> = new Set([
  'TEXT_MESSAGE_START',
  'TEXT_MESSAGE_CHUNK',
  'REASONING_START',
  'REASONING_MESSAGE_START',
  'REASONING_MESSAGE_CHUNK',
  'TOOL_CALL_START',
  'TOOL_CALL_CHUNK',
  'ACTIVITY_SNAPSHOT',
])

/** What may be in the thread already, by ids. */
interface Doubt {
  /** Of its messages and calls. */
  readonly made: ReadonlySet<string>
  readonly said: ReadonlySet<string>
  /** All runs that are in it, if the server told them. */
  readonly runs: ReadonlySet<string | undefined> | undefined
}

export class Told {
  #misses = 0
  #madeGood = 0
  #doubt: Doubt | undefined

  /** Something may have been told that was not heard. */
  missed(): void {
    this.#misses++
  }

  /** What was missed is not brought in yet. */
  get due(): boolean {
    return this.#misses > this.#madeGood
  }

  /** To be noted when the server is asked, and given back with its answer. */
  get asOf(): number {
    return this.#misses
  }

  /** The server has told the thread, or that it has none. */
  take(asOf: number, thread: ThreadBase | undefined, runs: ThreadBase['runs'] | undefined): void {
    this.#madeGood = Math.max(this.#madeGood, asOf)
    this.#doubt = thread && { ...idsIn(thread), runs: runs && new Set(runs.map(({ runId }) => runId)) }
  }

  /**
   * Whether a run is in the thread that the server told, by its id or by an event of it; undefined: that cannot be seen yet.
   * Runs come one after the other, so behind one that is not, all are new.
   */
  has(runId: string, event: StreamChunk): boolean | undefined {
    const known = this.#doubt === undefined ? false : isIn(this.#doubt, runId, event)
    if (known === false) this.#doubt = undefined
    return known
  }
}

function isIn({ made, said, runs }: Doubt, runId: string, event: StreamChunk): boolean | undefined {
  if (runs !== undefined) return runs.has(runId)
  const { type, input, messageId, toolCallId } = Object(event) as Partial<LooseChunk>
  if (type === 'RUN_STARTED') {
    const { messages } = Object(input) as { readonly messages?: unknown }
    const asked: unknown = Array.isArray(messages) ? messages.findLast((message: unknown) => Object(message).role === 'user') : undefined
    // That it is there proves nothing: a server may keep what was asked before it runs.
    return asked === undefined || said.has(String(Object(asked).id)) ? undefined : false
  }
  const isResult = type === 'TOOL_CALL_RESULT'
  if (!isResult && !MAKERS.has(String(type))) return undefined
  const id = type?.startsWith('TOOL_CALL_') && !isResult ? toolCallId : messageId
  if (typeof id !== 'string') return undefined
  // A result may be that of a call of another run.
  return made.has(id) || (isResult ? undefined : false)
}

function idsIn({ messages }: ThreadBase): Pick<Doubt, 'made' | 'said'> {
  const made = new Set<string>()
  const said = new Set<string>()
  for (const message of messages) {
    if (message.role === 'user') said.add(message.id)
    else made.add(message.id)
    if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) made.add(id)
  }
  return { made, said }
}
