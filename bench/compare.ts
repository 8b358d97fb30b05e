/**
 * How the benches of parts measure and print: each contender in a process of its own, the first round (compilation and
 * all) beside the median of the later ones, ratios to one of them. It knows no workload.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { machine, median, ms, ratio, timed } from './figures.ts'

export interface Contender {
  readonly name: string
  /** Prepares outside of the clock; the function it gives is timed. Called anew for each round. */
  prepare(): () => unknown
  /** Whether the answer is right. Absent: it has none. */
  check?(answer: unknown): boolean
}

export interface Group {
  readonly name: string
  /** The contender that the others are measured by. */
  readonly base: string
  readonly contenders: readonly Contender[]
}

/** A contender that takes longer is stopped and shown with `>`. */
const CAP_MS = 20_000

/** Prints a table for each group, or plays one contender if the command line says so. */
export async function compare(script: string, groups: readonly Group[], rounds: number): Promise<void> {
  const [flag, group, name] = process.argv.slice(2)
  if (flag === '--one') {
    const contender = groups.find((one) => one.name === group)?.contenders.find((one) => one.name === name)
    if (contender === undefined) throw new Error(`no contender ${name} in ${group}`)
    console.log(JSON.stringify(Array.from({ length: rounds }, () => play(contender))))
    return
  }
  console.log(heading(rounds))
  for (const one of groups) await table(script, one)
}

/** The last answer: with nothing of its kind alive the engine would forget what it compiled for it. */
const alive: { answer?: unknown } = {}

function play({ name, prepare, check }: Contender): number {
  const run = prepare()
  const { result, time } = timed(run)
  alive.answer = result
  if (check !== undefined && !check(result)) throw new Error(`${name} gives a wrong answer`)
  return time
}

async function table(script: string, { name: group, base, contenders }: Group): Promise<void> {
  const times = new Map<string, readonly number[] | undefined>()
  for (const { name } of contenders) times.set(name, await inChild(script, group, name))
  const of = times.get(base)?.slice(1)
  console.log(`${group}\n  ${'contender'.padEnd(24)}${'first ms'.padStart(10)}${'ms'.padStart(10)}${`vs ${base}`.padStart(22)}`)
  for (const { name } of contenders) {
    const found = times.get(name)
    if (found === undefined) {
      console.log(`  ${name.padEnd(24)}${`> ${CAP_MS.toLocaleString('en')}`.padStart(10)}`)
      continue
    }
    const time = median(found.slice(1))
    console.log(`  ${name.padEnd(24)}${ms(found[0] as number).padStart(10)}${ms(time).padStart(10)}${(of === undefined ? '' : ratio(time, median(of))).padStart(22)}`)
  }
  console.log('')
}

/** The times of the rounds; undefined if they were not over in time. */
async function inChild(script: string, group: string, name: string): Promise<readonly number[] | undefined> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [...process.execArgv, script, '--one', group, name], { timeout: CAP_MS })
    return JSON.parse(stdout) as number[]
  } catch (error) {
    if ((error as { killed?: boolean }).killed) return undefined
    throw error
  }
}

/** First line of a report. */
export function heading(rounds: number): string {
  return `${machine()}; ${rounds} rounds: the first, and the median of the others\n`
}
