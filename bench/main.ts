/**
 * `npm run bench [-- --rounds N] [WORKLOAD…]`: events per second of our path, of the official client and of the floor, each
 * contender in a process of its own, interleaved; medians of warm rounds (the first in a process, compilation and all,
 * stands beside them), as ratios to the floor and to us.
 */
import { execFile } from 'node:child_process'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { measure, type Sample } from './child.ts'
import { CONTENDERS, type Entry } from './contenders.ts'
import { WORKLOADS, type Workload } from './workloads.ts'

const ENTRIES: Readonly<Record<Entry, string>> = {
  events: 'JSON texts of events, in memory',
  push: 'SSE bytes, pushed in pieces of 1 to 1,500',
  response: 'SSE bytes, read from a Response',
}

/** Contenders that take longer are stopped and shown with `>`. */
const CAP_MS = 60_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '3' }, one: { type: 'boolean', default: false } },
})

if (values.one) {
  const [workload, entry, contender] = positionals as [string, Entry, string]
  console.log(JSON.stringify(await measure(workload, entry, contender)))
} else {
  await bench(Number(values.rounds), positionals)
}

async function bench(rounds: number, names: readonly string[]): Promise<void> {
  const known = WORKLOADS.map(({ name }) => name)
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0 || !Number.isInteger(rounds) || rounds < 1) {
    console.error(`bench: ${unknown.length > 0 ? `no workload ${unknown.join(', ')}; there are ${known.join(', ')}` : '--rounds takes a whole number from 1'}`)
    process.exitCode = 2
    return
  }
  console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}; median of ${rounds}\n`)
  for (const workload of WORKLOADS) {
    if (names.length > 0 && !names.includes(workload.name)) continue
    for (const entry of Object.keys(ENTRIES) as Entry[]) await table(workload, entry, rounds)
  }
}

async function table(workload: Workload, entry: Entry, rounds: number): Promise<void> {
  const names = CONTENDERS.filter(({ entries }) => entries[entry] !== undefined).map(({ name }) => name)
  const times = new Map<string, Sample[]>(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const name of names) times.get(name)?.push(await inChild(workload.name, entry, name))
  }
  console.log(`${workload.about} — ${ENTRIES[entry]}`)
  const medianOf = (name: string, which: 'ms' | 'firstMs' = 'ms'): number | undefined => {
    const samples = (times.get(name) ?? []).flatMap((sample) => sample[which] ?? []).toSorted((a, b) => a - b)
    return samples.length < rounds ? undefined : samples[Math.floor(samples.length / 2)]
  }
  const base = medianOf('floor')
  const ours = medianOf('millrace')
  const ratio = (a: number | undefined, b: number | undefined): string => (a === undefined || b === undefined ? '' : `${(a / b).toFixed(a / b < 10 ? 2 : 0)}×`)
  console.log(`  ${'contender'.padEnd(14)}${'first ms'.padStart(10)}${'ms'.padStart(10)}${'events/s'.padStart(13)}${'vs floor'.padStart(11)}${'vs millrace'.padStart(13)}`)
  for (const name of names) {
    const ms = medianOf(name)
    if (ms === undefined) {
      const error = times.get(name)?.find((sample) => sample.error !== undefined)?.error
      console.log(`  ${name.padEnd(14)}${`  ${error}`}`)
      continue
    }
    const rate = Math.round(workload.events.length / (ms / 1000)).toLocaleString('en')
    console.log(`  ${name.padEnd(14)}${(medianOf(name, 'firstMs') ?? 0).toFixed(1).padStart(10)}${ms.toFixed(1).padStart(10)}${rate.padStart(13)}${ratio(ms, base).padStart(11)}${ratio(ms, ours).padStart(13)}`)
  }
  console.log('')
}

async function inChild(workload: string, entry: Entry, contender: string): Promise<Sample> {
  const script = fileURLToPath(import.meta.url)
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [...process.execArgv, script, '--one', workload, entry, contender], { timeout: CAP_MS })
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Sample
  } catch (error) {
    return { error: (error as { killed?: boolean }).killed ? `> ${CAP_MS / 1000} s, stopped` : String(error) }
  }
}
