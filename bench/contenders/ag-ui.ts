/** `@ag-ui/client`: its order rules alone, its fold alone, and a whole run through an agent. */
import { AbstractAgent, defaultApplyEvents, HttpAgent, verifyEvents, type AgentSubscriber } from '@ag-ui/client'
import type { Event, Message } from '@millrace/protocol'
import { from } from 'rxjs'
import { responseOf } from '../workloads/wire.ts'
import { NotOffered, parsed, piecesOf, textsOf, type Job, type Outcome, type Prepare, type Run, type Watch } from './contender.ts'
import { FloorFold } from './floor-fold.ts'
import { outcomeOf } from './messages-answer.ts'

type Events = ReturnType<AbstractAgent['run']>

/** Parses each event when it is asked for. Types and messages are ours with enums for names. */
const eventsOf = (texts: readonly string[]): Events => from(parsed(texts)) as Events
const outcome = (messages: readonly object[], state: unknown, seen = ''): Outcome => outcomeOf(messages as Message[], state, seen)

class Replay extends AbstractAgent {
  readonly #texts: readonly string[]

  constructor(texts: readonly string[], config: ConstructorParameters<typeof AbstractAgent>[0]) {
    super(config)
    this.#texts = texts
  }

  run(): Events {
    return eventsOf(this.#texts)
  }
}

const configOf = ({ history, state }: Job['stream']): { threadId: string; initialMessages: never; initialState: unknown } => ({
  threadId: 'thread',
  initialMessages: structuredClone(history) as never,
  initialState: structuredClone(state),
})

/** `verifyEvents` alone. What it lets through goes to the fold of the floor, which says whether that was all. */
export const agUiVerify: Prepare = (job) => {
  if (job.entry !== 'texts' || job.watch.kind !== 'end') throw new NotOffered(job)
  const texts = textsOf(job.stream.events)
  return (): Run => {
    const state = structuredClone(job.stream.state)
    return async () => {
      const fold = new FloorFold(job.stream.history, state)
      await eventsOf(texts)
        .pipe(verifyEvents(false))
        .forEach((event) => fold.apply(event as unknown as Event))
      return () => outcome(fold.messages, fold.state)
    }
  }
}

/** `defaultApplyEvents` alone. */
export const agUiApply: Prepare = (job) => {
  if (job.entry !== 'texts' || job.watch.kind !== 'end') throw new NotOffered(job)
  const texts = textsOf(job.stream.events)
  return (): Run => {
    const agent = new Replay(texts, configOf(job.stream))
    const input = { threadId: 'thread', runId: 'run', messages: agent.messages, state: agent.state, tools: [], context: [], forwardedProps: {} }
    return async () => {
      let { messages, state } = agent
      await defaultApplyEvents(input as never, eventsOf(texts), agent, []).forEach((mutation) => {
        messages = mutation.messages ?? messages
        state = mutation.state ?? state
      })
      return () => outcome(messages, state)
    }
  }
}

/** What watches a run, and what it saw. */
function subscribersOf(watch: Watch): { readonly subscribers: AgentSubscriber[]; readonly seen: () => string } {
  let calls = 0
  let value: unknown
  switch (watch.kind) {
    case 'arguments':
      return {
        subscribers: [
          {
            onToolCallArgsEvent: ({ partialToolCallArgs }) => void (value = partialToolCallArgs),
            // What the deltas gave is without the last one.
            onToolCallEndEvent: ({ toolCallArgs }) => void (value = toolCallArgs),
          },
        ],
        seen: () => JSON.stringify(value),
      }
    case 'subscribers': {
      const subscriber = (): AgentSubscriber => ({ onEvent: () => void calls++, onTextMessageContentEvent: () => void calls++ })
      return { subscribers: Array.from({ length: watch.count }, subscriber), seen: () => String(calls) }
    }
    default:
      return { subscribers: [], seen: () => '' }
  }
}

/** `runAgent` of an agent that has the events; of an HttpAgent that gets them from a `fetch` of ours where bytes come in. */
export const agUiRun: Prepare = (job) => {
  if (job.entry === 'push' || job.watch.kind === 'snapshots') throw new NotOffered(job)
  const make = job.entry === 'texts' ? replayOf(job) : httpOf(job)
  return (): Run => {
    const agent = make()
    const { subscribers, seen } = subscribersOf(job.watch)
    for (const subscriber of subscribers) agent.subscribe(subscriber)
    return async () => {
      await agent.runAgent({ runId: 'run' })
      return () => outcome(agent.messages, agent.state, seen())
    }
  }
}

function replayOf(job: Job): () => AbstractAgent {
  const texts = textsOf(job.stream.events)
  return () => new Replay(texts, configOf(job.stream))
}

function httpOf(job: Job): () => AbstractAgent {
  const pieces = piecesOf(job)
  return () => new HttpAgent({ ...configOf(job.stream), url: 'http://bench.invalid/', fetch: async () => responseOf(pieces) })
}
