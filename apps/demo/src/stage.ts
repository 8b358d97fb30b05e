/**
 * What a scene of the scripted agent stands on: the run it writes to, and a sense of time. Scenes are plain async
 * functions over the helpers of `run`; they read no clock.
 */
import type { RunAgentInput } from '@millrace/protocol'
import type { RunContext } from '@millrace/server'

/** Waits `ms`, or less if `signal` fires. Injected, so that tests do not wait. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>

export type Scene = (stage: Stage) => Promise<void>

export interface Stage {
  readonly input: RunAgentInput
  readonly run: RunContext
  /** A stopped run shortens the wait; what the scene writes next is then refused, which ends it. */
  readonly pause: (ms: number) => Promise<void>
}

/** Cuts text the way a model does: a few characters at a time, white space in front of the word it leads to. */
export function pieces(text: string, size = 7): string[] {
  return text.match(new RegExp(`\\s*\\S{1,${size}}|\\s+$`, 'gu')) ?? []
}

/** Text as it is typed: with a breath after a sentence and at a new paragraph, as models have at times. */
async function* typed(stage: Stage, text: string, pace: number): AsyncGenerator<string, void, undefined> {
  for (const piece of pieces(text)) {
    await stage.pause(piece.includes('\n\n') ? pace * 4 : /[.!?:]$/u.test(piece) ? pace * 3 : pace)
    yield piece
  }
}

export async function say(stage: Stage, markdown: string, pace = 17): Promise<void> {
  await stage.run.text(typed(stage, markdown, pace))
}

export async function think(stage: Stage, thought: string, pace = 30): Promise<void> {
  await stage.run.reasoning(typed(stage, thought, pace))
}

export interface ScriptedCall {
  readonly name: string
  readonly args: Record<string, unknown>
  readonly result: Record<string, unknown>
  /** How long the tool seems to work, in ms. */
  readonly takes: number
}

/** Calls all tools at once: their arguments arrive interleaved, their results in the order in which they are done. */
export async function callTools(stage: Stage, calls: readonly ScriptedCall[]): Promise<void> {
  const { run, pause } = stage
  const parentMessageId = run.createId()
  const running = []
  for (const call of calls) {
    const writer = await run.toolCall(call.name, undefined, { parentMessageId })
    running.push({ ...call, writer, rest: pieces(JSON.stringify(call.args), 5) })
    await pause(90)
  }
  while (running.some(({ rest }) => rest.length > 0)) {
    for (const { writer, rest } of running) {
      const delta = rest.shift()
      if (delta === undefined) continue
      await pause(45)
      await writer.write(delta)
      if (rest.length === 0) await writer.end()
    }
  }
  let now = 0
  for (const { writer, result, takes } of running.toSorted((a, b) => a.takes - b.takes)) {
    await pause(takes - now)
    now = takes
    await writer.result(result)
  }
}

/** Calls a tool of the page. The call stays open when the run ends; the next run brings the answer. */
export async function callPage(stage: Stage, name: string, args: Record<string, unknown>): Promise<void> {
  await stage.run.toolCall(name, typed(stage, JSON.stringify(args), 60))
}

export type StatePatch = Parameters<RunContext['state']['patch']>[0]

/** Sends each patch by itself, with a pause in front. */
export async function patchState(stage: Stage, patches: readonly StatePatch[], pace = 420): Promise<void> {
  for (const patch of patches) {
    await stage.pause(pace)
    await stage.run.state.patch(patch)
  }
}
