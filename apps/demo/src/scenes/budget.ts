/** The shared state by itself: whatever trip is there is taken up, and moved by deltas. */
import type { Scene } from '../stage.ts'
import { patchState, say } from '../stage.ts'
import { newTrip, readTrip, spent } from '../trip.ts'

const smallest = 100
const largest = 100_000

/** The first plausible amount in what the user wrote. */
export function amountIn(text: string): number | undefined {
  const found = text.match(/\d+(?:[.,\s]\d{3})*/gu)?.map((digits) => Number(digits.replace(/\D/gu, '')))
  return found?.find((amount) => amount >= smallest && amount <= largest)
}

export function budget(asked: string): Scene {
  return async (stage) => {
    const before = readTrip(stage.input.state) ?? newTrip()
    const limit = amountIn(asked) ?? 800
    await stage.run.state.set(before)
    await say(stage, `I move the limit to **€${limit}** and add a small reserve. Watch the panel.`)
    const reserve = Math.round(limit / 20)
    await patchState(
      stage,
      [
        [{ op: 'replace', path: '/budget/limit', value: limit }],
        [{ op: 'add', path: '/budget/items/-', value: { label: 'Reserve', amount: reserve } }],
        [{ op: 'add', path: '/checklist/-', value: { label: 'Keep the receipts', done: false } }],
      ],
      700,
    )
    const left = limit - spent(before) - reserve
    await say(
      stage,
      left < 0
        ? `Done. That is **€${-left} over**: something has to go.`
        : `Done. That leaves **€${left}** to spend. Only what changed was sent: three small patches.`,
    )
  }
}
