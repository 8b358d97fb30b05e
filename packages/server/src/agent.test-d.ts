// What must compile, and what must not. Checked by `tsc -b`, never run.
import { EventType, type Event as CoreEvent } from '@ag-ui/core'
import type { Event } from '@millrace/protocol'
import { createRunHandler, type Agent, type RunContext } from './index.ts'

export const forms: Agent[] = [
  async (_, run) => void (await run.text('x')),
  async (_, run) => run.interrupt({ reason: 'input' }),
  async function* (input) {
    yield { type: 'CUSTOM', name: 'app.x', value: input.threadId }
  },
  async function* (_, run) {
    yield { type: 'CUSTOM', name: 'app.x', value: 1 }
    return run.interrupt({ reason: 'input' })
  },
  // Events made with the constants of `@ag-ui/core` are events.
  async function* () {
    yield { type: EventType.RUN_FINISHED, threadId: 't', runId: 'r' }
  },
  () => ({}) as AsyncIterable<CoreEvent>,
  async () => ({}) as AsyncIterable<Event>,
  // @ts-expect-error no such event
  async function* () {
    yield { type: 'NO_SUCH_EVENT' }
  },
  // @ts-expect-error a message id is missing
  async function* () {
    yield { type: 'TEXT_MESSAGE_END' }
  },
]

export async function helpers(run: RunContext): Promise<void> {
  const found: number = await run.step('count', async () => 1)
  const step = await run.step('open')
  await step.end()
  const sub: string = await run.subagent('s', async (emitter) => (await emitter.text('x')).messageId)
  const call = await run.toolCall('f', { a: found, sub })
  await call.result({ ok: true })
  // @ts-expect-error arguments are an object or JSON text
  await run.toolCall('f', 7)
  // @ts-expect-error an interrupt has a reason
  run.interrupt({ message: 'Really?' })
  // @ts-expect-error the context is read-only
  run.threadId = 'other'
}

// @ts-expect-error who may run is never left out
createRunHandler({ agent: async () => undefined })
createRunHandler({ agent: async () => undefined, authorize: () => true })
// @ts-expect-error authorize says yes or no, or answers itself
createRunHandler({ agent: async () => undefined, authorize: () => 'yes' })
