/** A question back to the user: the run ends with an interrupt, and a later run goes on with `resume`. */
import type { ResumeEntry } from '@millrace/protocol'
import type { RunContext } from '@millrace/server'
import { newPlan, PLAN, progress } from '../plan-activity.ts'
import type { Scene, Stage, StatePatch } from '../stage.ts'
import { callTools, patchState, say } from '../stage.ts'
import type { BudgetItem } from '../trip.ts'
import { newTrip, readTrip } from '../trip.ts'

const rooms = [
  { const: 'casa-da-ria', title: 'Casa da Ria', description: '€118 a night, small, on the river', price: 236 },
  { const: 'alfama-18', title: 'Alfama 18', description: '€94 a night, up many stairs, best view', price: 188 },
  { const: 'hotel-norte', title: 'Hotel Norte', description: '€76 a night, plain, beside the station', price: 152 },
] as const
type Room = (typeof rooms)[number]

const breakfastPrice = 28

const responseSchema = {
  type: 'object',
  properties: {
    room: {
      title: 'Room',
      type: 'string',
      oneOf: rooms.map(({ const: id, title, description }) => ({ const: id, title, description })),
      default: 'casa-da-ria',
    },
    breakfast: { title: `With breakfast, €${breakfastPrice} for two`, type: 'boolean', default: true },
    note: { title: 'Anything they should know?', type: 'string', maxLength: 140 },
  },
  required: ['room'],
}

export const tourPlan = newPlan('Weekend in Lisbon', [
  'Compare the weather',
  'Choose trains and add up',
  'Sketch the two days',
  'Hold a room',
])
const lastStep = tourPlan.steps.length - 1

/** The interrupt's id carries all that the later run needs to know, so that the agent keeps nothing. */
const prefix = 'room:'

/** @param planId activity to go on with, if the question is part of a plan */
export function askForRoom(run: RunContext, planId = ''): void {
  run.interrupt({
    id: `${prefix}${run.runId}:${planId}`,
    reason: 'input_required',
    message: 'Which room shall I hold for you? Nothing is booked until you say so.',
    responseSchema,
  })
}

export const ask: Scene = async (stage) => {
  await say(stage, 'Three rooms are free on those nights. I would rather not choose for you.')
  askForRoom(stage.run)
}

/** @returns the entry that answers our question, if the input has one. */
export function roomAnswer(resume: readonly ResumeEntry[] | undefined): ResumeEntry | undefined {
  return resume?.find(({ interruptId }) => interruptId.startsWith(prefix))
}

interface Choice {
  readonly room: Room
  readonly breakfast: boolean
  readonly note: string
}

/** The payload came over the wire: what does not fit the schema is no answer. */
function choiceOf(payload: unknown): Choice | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined
  const { room: id, breakfast, note } = payload as Record<string, unknown>
  const room = rooms.find((known) => known.const === id)
  return room && { room, breakfast: breakfast === true, note: typeof note === 'string' ? note.slice(0, 140) : '' }
}

export function resumeBooking(entry: ResumeEntry): Scene {
  return async (stage) => {
    const { run } = stage
    const planId = entry.interruptId.slice(entry.interruptId.lastIndexOf(':') + 1)
    const choice = entry.status === 'resolved' ? choiceOf(entry.payload) : undefined
    if (entry.status === 'resolved' && !choice) {
      await say(stage, 'That is none of the three rooms. I ask again.')
      askForRoom(run, planId)
      return
    }
    // The plan is restated under its id, so that a consumer that missed the run before has a base for the patch.
    const steps = tourPlan.steps.map((step, index) => ({ ...step, status: index < lastStep ? 'done' : 'active' }))
    const plan = planId ? await run.activity(PLAN, { ...tourPlan, steps }, { messageId: planId }) : undefined
    if (choice) await hold(stage, choice)
    else await say(stage, 'As you like. **Nothing is held**, and the rest of the plan stays as it is.')
    await plan?.patch(progress([lastStep, choice ? 'done' : 'skipped']))
  }
}

async function hold(stage: Stage, { room, breakfast, note }: Choice): Promise<void> {
  const reference = `MR-${room.price}${breakfast ? 'B' : ''}`
  await callTools(stage, [
    {
      name: 'hold_room',
      args: { room: room.const, nights: 2, guests: 2, breakfast, ...(note && { note }) },
      result: { held: true, reference, until: 'Friday, 18:00' },
      takes: 1100,
    },
  ])
  const trip = readTrip(stage.input.state) ?? newTrip()
  const items: BudgetItem[] = [{ label: `${room.title}, 2 nights`, amount: room.price }]
  if (breakfast) items.push({ label: 'Breakfast', amount: breakfastPrice })
  const patches: StatePatch[] = items.map((value) => [{ op: 'add', path: '/budget/items/-', value }])
  const toTick = trip.checklist.findIndex(({ label, done }) => label === 'Hold a room' && !done)
  if (toTick >= 0) patches.push([{ op: 'replace', path: `/checklist/${toTick}/done`, value: true }])
  await stage.run.state.set(trip)
  await patchState(stage, patches)
  await say(
    stage,
    `**${room.title}** holds a room for two, for two nights${breakfast ? ', with breakfast' : ''}. ` +
      `The reference is \`${reference}\`, and it lapses on Friday at 18:00 if you do nothing.` +
      (note ? '\n\nI passed on your note.' : ''),
  )
}
