/** One contender on one workload, in a process of its own: prints the milliseconds it took, or why there are none. */
import { CONTENDERS, type Entry } from './contenders.ts'
import { WORKLOADS } from './workloads.ts'

export interface Sample {
  /** Time of the measured round, in ms. */
  readonly ms?: number
  readonly error?: string
}

export async function measure(workloadName: string, entry: Entry, contenderName: string): Promise<Sample> {
  const workload = WORKLOADS.find(({ name }) => name === workloadName)
  const prepare = CONTENDERS.find(({ name }) => name === contenderName)?.entries[entry]
  if (workload === undefined || prepare === undefined) return { error: 'not offered' }
  try {
    // A warm-up on a tenth of the work: what is measured is neither the first compilation nor a tuned loop.
    const small = { ...workload, events: [...workload.events.slice(0, 2), ...workload.events.slice(2, workload.events.length / 10), ...workload.events.slice(-2)] }
    await (await prepare(small))()
    const run = await prepare(workload)
    globalThis.gc?.()
    const start = performance.now()
    const answer = await run()
    const ms = performance.now() - start
    return answer === workload.answer ? { ms } : { error: `wrong answer: ${answer.slice(0, 40)}` }
  } catch (error) {
    return { error: String(error) }
  }
}
