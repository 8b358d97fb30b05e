/** One contender on one workload, in a process of its own: prints the milliseconds it took, or why there are none. */
import { CONTENDERS, type Entry } from './contenders.ts'
import { WORKLOADS } from './workloads.ts'

export interface Sample {
  /** Time of the first round in a new process, in ms: compilation and all. */
  readonly firstMs?: number
  /** Median time of later rounds in the same process, in ms. */
  readonly ms?: number
  readonly error?: string
}

/** Rounds after the first, and the time after which no further one is begun. */
const WARM_ROUNDS = 10
const WARM_MS = 5_000

export async function measure(workloadName: string, entry: Entry, contenderName: string): Promise<Sample> {
  const workload = WORKLOADS.find(({ name }) => name === workloadName)
  const prepare = CONTENDERS.find(({ name }) => name === contenderName)?.entries[entry]
  if (workload === undefined || prepare === undefined) return { error: 'not offered' }
  try {
    const first = await timed(await prepare(workload), workload.answer)
    const rounds: number[] = []
    let total = first
    while (rounds.length < WARM_ROUNDS && (rounds.length === 0 || total < WARM_MS)) {
      const ms = await timed(await prepare(workload), workload.answer)
      rounds.push(ms)
      total += ms
    }
    // The earlier half still compiles.
    const later = rounds.slice(Math.floor(rounds.length / 2)).toSorted((a, b) => a - b)
    return { firstMs: first, ms: later[Math.floor(later.length / 2)] as number }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

/** @throws Error if the answer is not the one of the workload. */
async function timed(run: () => Promise<string>, answer: string): Promise<number> {
  globalThis.gc?.()
  const start = performance.now()
  const got = await run()
  const ms = performance.now() - start
  if (got !== answer) throw new Error(`wrong answer: ${got.slice(0, 40)}`)
  return ms
}
