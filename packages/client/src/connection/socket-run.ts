/**
 * A run that was sent over a WebSocket: what comes of it, and whether it is over. It opens no socket.
 */
import type { RunAgentInputContext } from '@millrace/protocol'
import type { LooseChunk, StreamChunk } from './adapter.ts'
import { endsRun, finishReason } from './finish-reason.ts'
import { Inbox } from './inbox.ts'
import { Placing, type SocketMessage } from './socket-message.ts'
import { RunTracker } from './terminal.ts'

export class SocketRun {
  readonly runId: string
  readonly inbox: Inbox = new Inbox()
  /** What the server calls it. */
  startedAs: string | undefined
  /** What the server calls it by what came, which may not be read yet. */
  begunAs: string | undefined
  /** What came last of it ends it. */
  terminal = false
  /** Its last event is a RUN_FINISHED after which the result of a server's tool and another turn are due. */
  goesOn = false
  /** What cut the socket it came over last; undefined if that ended well, or is open. */
  cut: Error | undefined
  readonly #tracker: RunTracker
  readonly #placing = new Placing()
  readonly #ours: ReadonlySet<string>
  #calledOurs = false

  constructor({ threadId, runId, clientTools }: RunAgentInputContext) {
    this.runId = runId
    this.#tracker = new RunTracker({ threadId, runId })
    this.#ours = new Set(clientTools?.map(({ name }) => name))
  }

  /** It has its last terminal event, as far as can be told. */
  get over(): boolean {
    return this.#tracker.terminal && !this.goesOn
  }

  /** The socket it came over is gone. */
  ended(cut: Error | undefined): void {
    this.cut = cut
    this.inbox.end(cut)
  }

  /** Notes an event that came for it on the shared socket, before it is delivered. */
  note(event: unknown): void {
    const { type, runId } = Object(event) as Partial<LooseChunk>
    if (type === 'RUN_STARTED' && typeof runId === 'string') this.begunAs = runId
    if (type !== 'CUSTOM' && type !== 'RAW') this.terminal = endsRun(event as StreamChunk)
  }

  /** Takes a message of the shared socket. */
  deliver(message: Extract<SocketMessage, { kind: 'event' }>): void {
    this.inbox.put([this.#placing.place(message)])
  }

  /** Notes an event that was read, whatever socket it came over. */
  see(event: StreamChunk): void {
    this.#tracker.see(event)
    const { type, runId, toolCallName } = Object(event) as Partial<LooseChunk>
    if (type === 'RUN_STARTED' && typeof runId === 'string') this.startedAs = runId
    if (typeof toolCallName === 'string' && this.#ours.has(toolCallName)) this.#calledOurs = true
    // TanStack AI finishes each model turn and goes on in the same run while the tools are its own (see chat/settled.ts).
    this.goesOn = type === 'RUN_FINISHED' && !this.#calledOurs && finishReason(event) === 'tool_calls'
  }

  finished(): StreamChunk {
    return this.#tracker.finished()
  }

  failed(error: Error): StreamChunk {
    return this.#tracker.failed(error)
  }
}
