/** Two tool calls at once, and an answer drawn from both. */
import type { Scene, ScriptedCall } from '../stage.ts'
import { callTools, say } from '../stage.ts'

export const weatherCalls: readonly ScriptedCall[] = [
  {
    name: 'get_weather',
    args: { city: 'Lisbon', country: 'PT', from: '2026-06-12', to: '2026-06-14', units: 'metric' },
    result: { sky: 'sunny, a shower on Sunday', high: '27 °C', low: '17 °C', wind: '14 km/h' },
    takes: 1500,
  },
  {
    name: 'get_weather',
    args: { city: 'Porto', country: 'PT', from: '2026-06-12', to: '2026-06-14', units: 'metric' },
    result: { sky: 'cloudy, rain on Saturday', high: '21 °C', low: '14 °C', wind: '22 km/h' },
    takes: 900,
  },
]

export const weather: Scene = async (stage) => {
  await say(stage, 'I ask for both cities at the same time.')
  await callTools(stage, weatherCalls)
  await say(
    stage,
    `**Lisbon**, without much doubt: six degrees warmer, and only Sunday may bring a shower. \
Porto has rain on Saturday, the day you would want to be outside.`,
  )
}
