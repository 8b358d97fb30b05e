/** One contender on one column of a table, in a process of its own: `child.js GROUP TABLE COLUMN CONTENDER`, numbers from 0. */
import { GCProfiler } from 'node:v8'
import { CONTENDERS, type ContenderName } from './contenders/all.ts'
import { expectedOf, type Job, type Outcome, type Run } from './contenders/contender.ts'
import { median } from './figures.ts'
import { GROUPS, type Column, type Table } from './groups.ts'
import type { Progress, Sample } from './sample.ts'

/** Rounds after the first: so many, and none is begun after this time unless there was none yet. */
const WARM_ROUNDS = 30
const WARM_MS = 1_500
/** After a first round as long as this none follows: what compilation takes is no part of it that one could see. */
const LONG_MS = 2_000

const MEGABYTE = 1e6

function tell(progress: Progress): void {
  process.send?.(progress)
}

function jobOf([group = '', table = '', column = '']: readonly string[]): Job {
  const { entry, cuts, columns } = (GROUPS[group] as readonly Table[])[Number(table)] as Table
  const { workload, watch } = columns[Number(column)] as Column
  return { stream: workload.make(), entry, cuts, watch }
}

async function measure(job: Job, name: ContenderName): Promise<Sample> {
  const { load, lacks = [] } = CONTENDERS[name]
  const fresh = (await load())(job)
  const wanted = Object.entries(expectedOf(job)).filter(([part]) => !lacks.includes(part as keyof Outcome)) as [keyof Outcome, string][]
  tell({ kind: 'ready' })
  const profiler = new HeapProfiler()
  const firstMs = await timed(fresh(), wanted, profiler)
  tell({ kind: 'first' })
  const rounds: number[] = []
  for (let total = firstMs; rounds.length < WARM_ROUNDS && total < (rounds.length === 0 ? LONG_MS : WARM_MS); ) {
    const ms = await timed(fresh(), wanted)
    rounds.push(ms)
    total += ms
  }
  return {
    firstMs,
    // The earlier half still compiles.
    ...(rounds.length > 0 && { ms: median(rounds.slice(Math.floor(rounds.length / 2))) }),
    events: job.stream.events.length,
    rssMb: (process.resourceUsage().maxRSS * 1024) / MEGABYTE,
    heapMb: profiler.grownBy / MEGABYTE,
  }
}

/** The last answer: with nothing of its kind alive a collection makes the engine forget what it compiled for it. */
const alive: { answer?: () => Outcome } = {}

/** @throws Error if the answer is not the one of the workload. */
async function timed(run: Run, wanted: readonly [keyof Outcome, string][], profiler?: HeapProfiler): Promise<number> {
  profiler?.start()
  const start = performance.now()
  const answer = await run()
  const ms = performance.now() - start
  profiler?.stop()
  alive.answer = answer
  const outcome = answer()
  const wrong = wanted.find(([part, value]) => outcome[part] !== value)
  if (wrong !== undefined) throw new Error(`wrong ${wrong[0]}: ${difference(outcome[wrong[0]], wrong[1])}`)
  return ms
}

function difference(got: string, wanted: string): string {
  let at = 0
  while (at < got.length && got[at] === wanted[at]) at++
  return `${got.length} units, not ${wanted.length}; they part at ${at}`
}

/** How far the heap grows: it is largest just before it is collected, or at the end. */
class HeapProfiler {
  readonly #profiler = new GCProfiler()
  #before = 0
  grownBy = 0

  start(): void {
    this.#before = process.memoryUsage().heapUsed
    this.#profiler.start()
  }

  stop(): void {
    const collections = this.#profiler.stop().statistics.map(({ beforeGC }) => beforeGC.heapStatistics.usedHeapSize)
    this.grownBy = Math.max(process.memoryUsage().heapUsed, ...collections) - this.#before
  }
}

try {
  const args = process.argv.slice(2)
  tell({ kind: 'done', sample: await measure(jobOf(args), args[3] as ContenderName) })
} catch (error) {
  tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
}
process.disconnect?.()
