/** One contender on one column of a table, in a process of its own: `child.js GROUP TABLE COLUMN CONTENDER`, numbers from 0. */
import { GCProfiler } from 'node:v8'
import { CONTENDERS, type ContenderName } from './contenders/all.ts'
import { expectedOfConnection, type ConnectionJob } from './contenders/connection.ts'
import { expectedOf, type Outcome, type Run } from './contenders/contender.ts'
import { median } from './figures.ts'
import { findColumn } from './groups.ts'
import { LoopProbe, medianUse, type LoopUse } from './loop-probe.ts'
import type { Progress, Sample } from './sample.ts'
import { startServer } from './start-server.ts'
import type { Stream } from './workloads/stream.ts'

/** Rounds after the first: so many, and none is begun after this time unless there was none yet. */
const WARM_ROUNDS = 30
const WARM_MS = 1_000
/** After a first round as long as this none follows: what compilation takes is no part of it that one could see. */
const LONG_MS = 2_000

const MEGABYTE = 1e6

function tell(progress: Progress): void {
  process.send?.(progress)
}

/** A contender that is ready: `fresh` is called before every round. */
interface Ready {
  readonly stream: Stream
  readonly fresh: () => Run
  readonly expected: Partial<Outcome>
  /** What watches the event loop, where there is a network. */
  readonly probe?: LoopProbe
}

async function prepare(path: readonly string[], name: ContenderName): Promise<Ready> {
  const { table, column } = findColumn(path)
  const stream = column.workload.make()
  const { load, connect } = CONTENDERS[name]
  if (table.entry !== 'connection') {
    const job = { stream, entry: table.entry, cuts: table.cuts, watch: column.watch }
    return { stream, fresh: (await load())(job), expected: expectedOf(job) }
  }
  if (connect === undefined) throw new Error('not offered: a connection')
  const job: ConnectionJob = { stream, url: await startServer(path), ...(column.breaks !== undefined && { breaks: column.breaks }) }
  // Before the contender is loaded, which may keep the functions that are counted.
  const probe = new LoopProbe()
  return { stream, fresh: (await connect())(job), expected: expectedOfConnection(job), probe }
}

async function measure({ stream, fresh, expected, probe }: Ready, lacks: readonly (keyof Outcome)[]): Promise<Sample> {
  const wanted = Object.entries(expected).filter(([part]) => !lacks.includes(part as keyof Outcome)) as [keyof Outcome, string][]
  tell({ kind: 'ready' })
  const profiler = new HeapProfiler()
  const first = await timed(fresh(), wanted, probe, profiler)
  tell({ kind: 'first' })
  const rounds: Round[] = []
  for (let total = first.ms; rounds.length < WARM_ROUNDS && total < (rounds.length === 0 ? LONG_MS : WARM_MS); ) {
    const round = await timed(fresh(), wanted, probe)
    rounds.push(round)
    total += round.ms
  }
  // The earlier half still compiles.
  const warm = rounds.slice(Math.floor(rounds.length / 2))
  const loops = (warm.length > 0 ? warm : [first]).flatMap(({ loop }) => loop ?? [])
  return {
    firstMs: first.ms,
    ...(warm.length > 0 && { ms: median(warm.map(({ ms }) => ms)) }),
    events: stream.events.length,
    rssMb: (process.resourceUsage().maxRSS * 1024) / MEGABYTE,
    heapMb: profiler.grownBy / MEGABYTE,
    ...(loops.length > 0 && { loop: medianUse(loops) }),
  }
}

/** The last answer: with nothing of its kind alive a collection makes the engine forget what it compiled for it. */
const alive: { answer?: () => Outcome } = {}

interface Round {
  readonly ms: number
  readonly loop?: LoopUse
}

/** @throws Error if the answer is not the one of the workload. */
async function timed(run: Run, wanted: readonly [keyof Outcome, string][], probe?: LoopProbe, profiler?: HeapProfiler): Promise<Round> {
  profiler?.start()
  await probe?.start()
  const start = performance.now()
  const answer = await run()
  const ms = performance.now() - start
  const loop = await probe?.stop()
  profiler?.stop()
  alive.answer = answer
  const outcome = answer()
  const wrong = wanted.find(([part, value]) => outcome[part] !== value)
  if (wrong !== undefined) throw new Error(`wrong ${wrong[0]}: ${difference(outcome[wrong[0]], wrong[1])}`)
  return { ms, ...(loop !== undefined && { loop }) }
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
  const path = process.argv.slice(2, 5)
  const name = process.argv[5] as ContenderName
  tell({ kind: 'done', sample: await measure(await prepare(path, name), CONTENDERS[name].lacks ?? []) })
} catch (error) {
  tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
}
process.disconnect?.()
