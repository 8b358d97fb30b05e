/** A run that fails half way: what was said before it stays. */
import { AgentError } from '@millrace/server'
import type { Scene } from '../stage.ts'
import { callTools, say } from '../stage.ts'

export const fail: Scene = async (stage) => {
  await say(stage, 'I ask the railway for seats. It is usually quick, but today the line')
  await stage.pause(700)
  throw new AgentError('upstream_unavailable', 'The timetable service did not answer.')
}

/** What the same request gives when it is tried again. */
export const recover: Scene = async (stage) => {
  await say(stage, 'Second try.')
  await callTools(stage, [
    {
      name: 'find_seats',
      args: { from: 'Porto', to: 'Lisbon', date: '2026-06-12', seats: 2 },
      result: { train: 'AP 184', departs: '17:47', seats: '41 and 42', fare: '€48' },
      takes: 900,
    },
  ])
  await say(stage, 'There it is: **AP 184** at 17:47, two seats side by side. What failed a moment ago did no harm.')
}
