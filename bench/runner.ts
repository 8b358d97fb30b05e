/**
 * Runs a table: every contender in processes of its own, one after the other, round by round. It knows what a process tells,
 * nothing of what is measured.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { ContenderName } from './contenders/all.ts'
import { median } from './figures.ts'
import type { Column, Table } from './groups.ts'
import { medianUse, type LoopUse } from './loop-probe.ts'
import type { Progress, Sample } from './sample.ts'

export interface RunOptions {
  /** Processes for each contender. */
  readonly rounds: number
  /** The time a round may take, in ms. */
  readonly capMs: number
}

/** What came of a contender in one column. */
export type Cell =
  | {
      readonly kind: 'measured'
      /** Medians over the processes; see {@link Sample}. */
      readonly firstMs: number
      readonly ms?: number
      readonly microsecondsPerEvent: number
      readonly rssMb: number
      readonly heapMb: number
      /** Macrotasks for each event, and how long the loop was kept from turning; see {@link LoopUse}. */
      readonly loop?: { readonly blockMs: number; readonly p99Ms: number; readonly macrotasksPerEvent: number }
      readonly processes: number
    }
  /** Stopped: its first round took longer. */
  | { readonly kind: 'capped'; readonly capMs: number }
  /** Not begun: it was stopped at a smaller size. */
  | { readonly kind: 'left-out' }
  /** A wrong answer, or none. */
  | { readonly kind: 'failed'; readonly reason: string }

export interface Row {
  readonly name: ContenderName
  readonly cells: readonly Cell[]
}

export interface TableResult {
  readonly title: string
  readonly entry: Table['entry']
  readonly columns: readonly Pick<Column, 'head' | 'watch' | 'breaks'>[]
  readonly rows: readonly Row[]
}

/** A contender that has taken this part of the cap gets no further process: its figures are steady enough. */
const ENOUGH = 1 / 4

/** Loading and making the stream, in ms. */
const LOAD_MS = 60_000

const CHILD = fileURLToPath(new URL('child.js', import.meta.url))

/** @param path group and number of the table, which find it in another process. */
export async function runTable(table: Table, path: readonly [group: string, index: number], options: RunOptions): Promise<TableResult> {
  const cells = new Map<ContenderName, Cell[]>(table.contenders.map((name) => [name, []]))
  for (const column of table.columns.keys()) {
    const going = table.contenders.filter((name) => !cells.get(name)?.some(({ kind }) => kind === 'capped'))
    const found = await runColumn([...path.map(String), String(column)], going, options)
    for (const [name, row] of cells) row.push(found.get(name) ?? { kind: 'left-out' })
  }
  return {
    title: table.title,
    entry: table.entry,
    columns: table.columns.map(({ head, watch, breaks }) => ({ head, watch, ...(breaks !== undefined && { breaks }) })),
    rows: [...cells].map(([name, row]) => ({ name, cells: row })),
  }
}

async function runColumn(path: readonly string[], names: readonly ContenderName[], { rounds, capMs }: RunOptions): Promise<Map<ContenderName, Cell>> {
  const samples = new Map<ContenderName, Sample[]>(names.map((name) => [name, []]))
  const ended = new Map<ContenderName, Cell>()
  for (let round = 0; round < rounds; round++) {
    for (const [name, before] of samples) {
      const spent = before.reduce((sum, { firstMs }) => sum + firstMs, 0)
      if (ended.has(name) || spent > capMs * ENOUGH) continue
      const found = await runChild([...path, name], capMs)
      if ('kind' in found) ended.set(name, found)
      else before.push(found)
    }
  }
  return new Map(names.map((name) => [name, ended.get(name) ?? summary(samples.get(name) as Sample[])]))
}

function summary(samples: readonly Sample[]): Cell {
  const medianOf = (pick: (sample: Sample) => number): number => median(samples.map(pick))
  const firstMs = medianOf((sample) => sample.firstMs)
  const warm = samples.flatMap(({ ms }) => ms ?? [])
  const ms = warm.length > 0 ? median(warm) : undefined
  const loops = samples.flatMap(({ loop }) => loop ?? [])
  return {
    kind: 'measured',
    firstMs,
    ...(ms !== undefined && { ms }),
    microsecondsPerEvent: ((ms ?? firstMs) * 1_000) / medianOf(({ events }) => events),
    rssMb: medianOf(({ rssMb }) => rssMb),
    heapMb: medianOf(({ heapMb }) => heapMb),
    ...(loops.length > 0 && { loop: loopOf(loops, medianOf(({ events }) => events)) }),
    processes: samples.length,
  }
}

function loopOf(loops: readonly LoopUse[], events: number): NonNullable<(Cell & { readonly kind: 'measured' })['loop']> {
  const { blockMs, p99Ms, macrotasks } = medianUse(loops)
  return { blockMs, p99Ms, macrotasksPerEvent: macrotasks / events }
}

function runChild(args: readonly string[], capMs: number): Promise<Sample | Cell> {
  return new Promise((resolve) => {
    const child = fork(CHILD, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    let last = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (last = (last + text).slice(-1_000)))
    const end = (found: Sample | Cell): void => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      resolve(found)
    }
    const within = (ms: number, otherwise: Cell): NodeJS.Timeout => setTimeout(end, ms, otherwise)
    const capped: Cell = { kind: 'capped', capMs }
    let timer = within(LOAD_MS, { kind: 'failed', reason: `not loaded within ${LOAD_MS / 1_000} s` })
    child.on('message', (message) => {
      const progress = message as Progress
      switch (progress.kind) {
        case 'ready':
        case 'first':
          clearTimeout(timer)
          timer = within(capMs, capped)
          break
        case 'done':
          return end(progress.sample)
        case 'failed':
          return end(progress)
      }
    })
    child.on('exit', (code, signal) => end({ kind: 'failed', reason: `ended with ${code ?? signal}: ${last.trim().split('\n').at(-1) ?? ''}` }))
  })
}
