/**
 * The order in which subscribers are asked, against `@ag-ui/client` 1.0.0: the same hooks, in the same order, for the same
 * events. There are two differences: we tell of changed messages when one is complete, for which views show it in another
 * way; and we tell of a failure after what came before it, where that client interleaves them.
 */
import { AbstractAgent, type AgentSubscriber } from '@ag-ui/client'
import { from } from 'rxjs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { foldSubscribed, ThreadBuilder, verifyEvents, type Event, type Subscriber } from '../src/index.ts'

class Replay extends AbstractAgent {
  events: readonly Event[] = []

  run(): ReturnType<AbstractAgent['run']> {
    return from(structuredClone(this.events) as never[]) as never
  }
}

/** A subscriber that has every hook there is, and notes each call with the type of its event. */
function recorder(calls: string[], name: string): Subscriber & AgentSubscriber {
  return new Proxy({}, {
    get: (_, hook) => (params: { event?: { type: string } }) => void calls.push(`${name} ${String(hook)}${params.event === undefined ? '' : ` ${params.event.type}`}`),
    has: () => true,
  }) as Subscriber & AgentSubscriber
}

async function theirs(events: readonly Event[]): Promise<string[]> {
  const calls: string[] = []
  const agent = new Replay({ threadId: 't' })
  agent.events = events
  agent.subscribe(recorder(calls, 'a'))
  agent.subscribe(recorder(calls, 'b'))
  await agent.runAgent({ runId: 'r' }).catch(() => {})
  // They do not wait for the last hook.
  await new Promise((resolve) => setTimeout(resolve))
  return calls
}

async function ours(events: readonly Event[]): Promise<string[]> {
  const calls: string[] = []
  try {
    for await (const _ of foldSubscribed(verifyEvents(events), new ThreadBuilder(), [recorder(calls, 'a'), recorder(calls, 'b')]));
  } catch {
    // Told to the subscribers.
  }
  return calls
}

const start: Event = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const finish: Event = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }
const SAMPLES: Readonly<Record<string, readonly Event[]>> = {
  'a run of everything': [
    start,
    { type: 'STEP_STARTED', stepName: 's' },
    { type: 'TEXT_MESSAGE_START', messageId: 'm' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Hello' },
    { type: 'TEXT_MESSAGE_END', messageId: 'm' },
    { type: 'REASONING_START', messageId: 'th' },
    { type: 'REASONING_MESSAGE_START', messageId: 'th', role: 'reasoning' },
    { type: 'REASONING_MESSAGE_CONTENT', messageId: 'th', delta: 'hm' },
    { type: 'REASONING_MESSAGE_END', messageId: 'th' },
    { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'th', encryptedValue: 'v' },
    { type: 'REASONING_END', messageId: 'th' },
    { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'f', parentMessageId: 'm' },
    { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{"a":1}' },
    { type: 'TOOL_CALL_END', toolCallId: 'c' },
    { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: '1' },
    { type: 'STATE_SNAPSHOT', snapshot: { n: 1 } },
    { type: 'STATE_DELTA', delta: [{ op: 'replace', path: '/n', value: 2 }] },
    { type: 'ACTIVITY_SNAPSHOT', messageId: 'p', activityType: 'PLAN', content: { n: 1 } },
    { type: 'ACTIVITY_DELTA', messageId: 'p', activityType: 'PLAN', patch: [{ op: 'replace', path: '/n', value: 2 }] },
    { type: 'SUBAGENT_STARTED', subagentRunId: 's1', name: 'n' },
    { type: 'SUBAGENT_FINISHED', subagentRunId: 's1' },
    { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'm', role: 'assistant', content: 'Hello you' }] },
    { type: 'RAW', event: 1 },
    { type: 'CUSTOM', name: 'app.n', value: 1 },
    { type: 'STEP_FINISHED', stepName: 's' },
    finish,
  ],
  chunks: [start, { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', delta: 'a' }, { type: 'TEXT_MESSAGE_CHUNK', delta: 'b' }, { type: 'TOOL_CALL_CHUNK', toolCallId: 'c', toolCallName: 'f', delta: '{}' }, finish],
  'an interrupt': [start, { ...finish, outcome: { type: 'interrupt', interrupts: [{ id: 'i', reason: 'x' }] } } as Event],
  'RUN_ERROR': [start, { type: 'RUN_ERROR', message: 'm' }],
}

/** Without the news that a message is complete, if it comes as a change of messages. */
function withoutCompletions(calls: readonly string[]): string[] {
  let last = ''
  return calls.filter((call) => {
    last = /onEvent (\w+)/.exec(call)?.[1] ?? last
    return !(last.endsWith('_END') && call.endsWith('onMessagesChanged'))
  })
}

beforeAll(() => {
  for (const method of ['warn', 'error'] as const) vi.spyOn(console, method).mockImplementation(() => {})
})
afterAll(() => {
  vi.restoreAllMocks()
})

describe('hooks are called in the order of the AG-UI client', () => {
  it.each(Object.entries(SAMPLES))('%s', async (_, events) => {
    const [here, there] = [await ours(events), await theirs(events)]
    expect(withoutCompletions(here)).toEqual(there)
    // What they do not tell, they tell nowhere.
    expect(withoutCompletions(there)).toEqual(there)
  })

  it('a stream that is rejected: the same hooks, the failure after what came before it', async () => {
    const events = [start, start]
    const here = await ours(events)
    expect(here.toSorted()).toEqual((await theirs(events)).toSorted())
    expect(here.slice(-4)).toEqual(['a onRunFailed', 'b onRunFailed', 'a onRunFinalized', 'b onRunFinalized'])
  })
})
