/** Every contender arrives at the answer of every kind of workload, in each way in which it is measured. */
import { describe, expect, it } from 'vitest'
import { GROUPS } from '../groups.ts'
import { mixedRuns } from '../workloads/mixed.ts'
import { patches } from '../workloads/state.ts'
import type { Workload } from '../workloads/stream.ts'
import { oneMessage, overHistory } from '../workloads/text.ts'
import { toolArguments } from '../workloads/tools.ts'
import { CONTENDERS, type ContenderName } from './all.ts'
import { expectedOf, type Job, type Outcome } from './contender.ts'

/** What each group measures, but small. */
const SMALL: Readonly<Record<string, Workload>> = {
  text: oneMessage(30),
  history: overHistory(4, 10),
  tools: toolArguments(1),
  state: patches(40, 2_000),
  mixed: mixedRuns(2),
  bytes: mixedRuns(2),
  'large-event': oneMessage(3),
  subscribers: oneMessage(30),
  snapshots: overHistory(4, 200),
}

async function play(job: Job, name: ContenderName): Promise<Outcome> {
  const run = (await CONTENDERS[name].load())(job)()
  return (await run())()
}

/** Those over a real connection have a test of their own. */
const offline = Object.entries(GROUPS).filter(([, tables]) => !tables.some(({ entry }) => entry === 'connection'))

describe.each(offline)('%s', (group, tables) => {
  const cases = tables.flatMap(({ title, entry, cuts, columns, contenders }) => {
    if (entry === 'connection') return []
    // Columns that differ in size only are one here.
    const differing = columns.filter(({ watch }, index) => watch !== columns[index - 1]?.watch)
    return contenders.flatMap((name) => differing.map(({ head, watch }) => ({ title, entry, cuts, head, watch, name })))
  })
  it.each(cases)('$title, $head: $name', async ({ entry, cuts, watch, name }) => {
    const job: Job = { stream: (SMALL[group] as Workload).make(), entry, cuts, watch }
    const { lacks = [] } = CONTENDERS[name]
    const wanted = Object.fromEntries(Object.entries(expectedOf(job)).filter(([part]) => !lacks.includes(part as keyof Outcome)))
    expect(Object.keys(wanted).length).toBeGreaterThan(0)
    expect(await play(job, name)).toMatchObject(wanted)
  })
})

it('makes the same streams every time', () => {
  for (const workload of Object.values(SMALL)) expect(workload.make()).toEqual(workload.make())
})
