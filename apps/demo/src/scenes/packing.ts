/** A plan that ticks while work goes on, shown as an activity. */
import { newPlan, PLAN, progress } from '../plan-activity.ts'
import type { Scene } from '../stage.ts'
import { say } from '../stage.ts'

const bag = newPlan('Pack for two days', [
  'Look at the forecast',
  'Shoes for hills',
  'Something for the shower on Sunday',
  'Chargers and tickets',
  'Weigh the bag',
])

export const packing: Scene = async (stage) => {
  const { run, pause } = stage
  await say(stage, 'Five things, one after the other.')
  const plan = await run.activity(PLAN, { ...bag })
  for (const index of bag.steps.keys()) {
    await pause(250)
    await plan.patch(progress([index, 'active']))
    await pause(800)
    await plan.patch(progress([index, 'done']))
  }
  await say(stage, 'All packed: **6.8 kg**, and one hand free.')
}
