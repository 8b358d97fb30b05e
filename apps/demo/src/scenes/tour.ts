/** The tour: one run that shows everything, and ends by asking. `booking.ts` goes on from the answer. */
import { PLAN, progress } from '../plan-activity.ts'
import type { Scene } from '../stage.ts'
import { callTools, patchState, say, think } from '../stage.ts'
import { newTrip } from '../trip.ts'
import { askForRoom, tourPlan } from './booking.ts'
import { weatherCalls } from './weather.ts'

const thought = `Two days, two people, trains rather than flights. The weather decides which day is for the river \
and which for museums, so I look at that first. Then the sketch, then the sums. A room is someone else's money: \
I ask before I hold one.`

const sketch = `## A weekend in Lisbon

Saturday is the dry day, so it gets the **hills and the river**. Sunday morning may see a shower: that is for Belém.

| | Saturday | Sunday |
| --- | --- | --- |
| Morning | Alfama on foot, before the trams fill | MAAT and the riverside at Belém |
| Noon | Lunch at the Feira da Ladra | Pastéis, eaten standing up |
| Evening | Sunset at Senhora do Monte | Train at 18:30 |

A few things worth knowing:

- Tram 28 is a sight, not a means of transport. *Walk up, ride down.*
- A day pass for metro, trams and funiculars pays for itself on the third ride.
- Most museums rest on **Mondays**, so this weekend is safe.

The sums are in the panel. One thing is left, and it is yours to decide.`

export const tour: Scene = async (stage) => {
  const { run, pause } = stage
  const plan = await run.step('look around', async () => {
    await think(stage, thought)
    const activity = await run.activity(PLAN, { ...tourPlan })
    await pause(350)
    await activity.patch(progress([0, 'active']))
    await say(stage, 'Let me look at the sky first, in Lisbon and, in case it is better, in Porto.')
    await callTools(stage, weatherCalls)
    return activity
  })

  await run.step('draft', async () => {
    await run.state.set(newTrip())
    await pause(300)
    await plan.patch(progress([0, 'done'], [1, 'active']))
    await patchState(stage, [
      [{ op: 'replace', path: '/checklist/0/done', value: true }],
      [{ op: 'add', path: '/budget/items/-', value: { label: 'Trains, return', amount: 96 } }],
      [{ op: 'replace', path: '/checklist/1/done', value: true }],
      [{ op: 'add', path: '/budget/items/-', value: { label: 'Meals', amount: 140 } }],
      [{ op: 'add', path: '/budget/items/-', value: { label: 'Museums and passes', amount: 52 } }],
    ])
    await plan.patch(progress([1, 'done'], [2, 'active']))
    await say(stage, sketch)
    await run.state.patch([{ op: 'replace', path: '/checklist/2/done', value: true }])
    await plan.patch(progress([2, 'done'], [3, 'waiting']))
  })
  await pause(250)
  askForRoom(run, plan.messageId)
}
