// What a recording says of a thread besides its events: what the client sent with each run, and what the server had stored.
import { parseRunAgentInput, ThreadBuilder, type Message, type Thread, type ThreadBuilder as Builder } from '@millrace/protocol'
import type { RecordedRequest } from '@millrace/client/recording'

type Base = Pick<Thread, 'messages' | 'state' | 'runs' | 'interrupts'>

export class RecordedThread {
  builder: Builder
  /** What the thread was before each run. */
  readonly #bases = new Map<string, Base>()

  constructor(builder: Builder) {
    this.builder = builder
  }

  /** A stream begins. One that joins a run takes the place of what came of it before. */
  begin(request: RecordedRequest): void {
    if (request.kind === 'run') {
      this.input(request.input)
      const { runId } = Object(request.input) as { readonly runId?: unknown }
      if (typeof runId === 'string') this.#bases.set(runId, this.builder.snapshot())
    } else if (request.kind === 'join') {
      const base = this.#bases.get(request.runId)
      if (base === undefined) return
      const { messages, state, runs, interrupts } = base
      this.builder = new ThreadBuilder({ messages, state, runs, interrupts })
    }
  }

  /**
   * Takes over the messages and the state that a client sent, or a server answered with: edits, new messages and answers of tools
   * show in them. Messages that are known stay as they are: they were folded from events, which say more.
   */
  input(given: unknown): void {
    const { messages, state } = Object(given) as { readonly messages?: unknown; readonly state?: unknown }
    if (!Array.isArray(messages)) return
    const read = readMessages(messages)
    if (read === undefined) return
    const known = new Map(this.builder.snapshot().messages.map((message) => [message.id, message]))
    const taken = read.map((message) => {
      const before = known.get(message.id)
      return before === undefined || (message.role === 'user' && JSON.stringify(before) !== JSON.stringify(message)) ? message : before
    })
    // A client that leaves the history to the server sends what is new.
    if (known.size > 0 && !read.some(({ id }) => known.has(id))) for (const message of taken) this.builder.addMessage(message)
    else this.builder.setMessages(taken)
    if (state !== undefined && JSON.stringify(state) !== JSON.stringify(this.builder.snapshot().state)) this.builder.setState(state)
  }
}

/** Undefined if they are no AG-UI messages: servers may store others. */
function readMessages(messages: readonly unknown[]): readonly Message[] | undefined {
  try {
    return parseRunAgentInput({ threadId: 'recorded', runId: 'recorded', messages }).messages as Message[]
  } catch {
    return undefined
  }
}
