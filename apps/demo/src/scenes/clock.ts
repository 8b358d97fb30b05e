/** A tool that the page runs: the run ends with the call open, the page answers it, and the next run goes on from there. */
import { clockAt, LOCAL_TIME, readLocalTime } from '../local-time.ts'
import type { Scene, Stage } from '../stage.ts'
import { callPage, say } from '../stage.ts'

export const clock: Scene = async (stage) => {
  const { messages, tools } = stage.input
  const last = messages.at(-1)
  if (last?.role === 'tool') return compare(stage, last.content)
  if (!tools.some(({ name }) => name === LOCAL_TIME)) return say(stage, 'This page offers me no clock, and I have none.')
  await say(stage, 'I have no clock, but your browser has one. I ask it.')
  await callPage(stage, LOCAL_TIME, { compare_with: 'Lisbon', format: '24 hours' })
}

async function compare(stage: Stage, content: unknown): Promise<void> {
  const answer = readLocalTime(content)
  if (answer === undefined) return say(stage, 'Your browser did not tell me.')
  const here = clockAt(answer.now, answer.timeZone)
  const lisbon = clockAt(answer.now, 'Europe/Lisbon')
  await say(
    stage,
    `It is **${here}** where you are (${answer.timeZone}), and **${lisbon}** in Lisbon. ` +
      `${here === lisbon ? 'No jet lag, then.' : 'Set your watch on the train.'} ` +
      'The call ran in this page; I went on when its answer came.',
  )
}
