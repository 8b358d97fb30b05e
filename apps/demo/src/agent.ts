/** The scripted agent: picks a scene by what the user wrote, and plays it. */
import type { RunAgentInput } from '@millrace/protocol'
import type { Agent } from '@millrace/server'
import { answer } from './scenes/answer.ts'
import { ask, resumeBooking, roomAnswer } from './scenes/booking.ts'
import { budget } from './scenes/budget.ts'
import { clock } from './scenes/clock.ts'
import { fail, recover } from './scenes/failure.ts'
import { fallback } from './scenes/fallback.ts'
import { packing } from './scenes/packing.ts'
import { tell } from './scenes/story.ts'
import { tour } from './scenes/tour.ts'
import { weather } from './scenes/weather.ts'
import type { Scene, Sleep } from './stage.ts'

/** First match wins. */
const scenes: readonly (readonly [RegExp, (asked: string) => Scene])[] = [
  [/\b(stor(y|ies)|long)\b/iu, () => tell],
  [/\b(time|clock)\b/iu, () => clock],
  [/\b(budget|limit|euros?)\b|€/iu, budget],
  [/\b(book|reserve|hold|rooms?|hotels?)\b/iu, () => ask],
  [/\b(weather|forecast|rain|sunny?)\b/iu, () => weather],
  [/\b(pack|bag|checklist)\b/iu, () => packing],
  [/\b(weekend|trip|tour|plan|lisbon)\b/iu, () => tour],
  [/\b(how does|explain|markdown|answer)\b/iu, () => answer],
]
const failing = /\b(fail\w*|errors?)\b/iu

/** Threads remembered for the failure that happens once; a bound, since threads are never closed. */
const rememberedThreads = 1000

export interface AgentOptions {
  readonly sleep?: Sleep
  /** Factor on all pauses; default 1. */
  readonly pace?: number
}

const wait: Sleep = (ms, signal) =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
  })

/** The text of the last message the user wrote. */
function lastAsked({ messages }: RunAgentInput): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ')
}

export function createAgent({ sleep = wait, pace = 1 }: AgentOptions = {}): Agent {
  /** Threads whose next try succeeds. */
  const failed = new Set<string>()

  function failOnce({ threadId }: RunAgentInput): Scene {
    if (failed.delete(threadId)) return recover
    if (failed.size >= rememberedThreads) failed.clear()
    failed.add(threadId)
    return fail
  }

  function sceneFor(input: RunAgentInput): Scene {
    const resumed = roomAnswer(input.resume)
    if (resumed) return resumeBooking(resumed)
    const asked = lastAsked(input)
    if (failing.test(asked)) return failOnce(input)
    return scenes.find(([pattern]) => pattern.test(asked))?.[1](asked) ?? fallback
  }

  return async (input, run) => {
    const pause = (ms: number): Promise<void> => sleep(ms * pace, run.signal)
    await pause(350)
    await sceneFor(input)({ input, run, pause })
  }
}
