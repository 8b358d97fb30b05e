/** What the page bench compares, and how a row of it reads. */
import { median, ms } from '../figures.ts'
import { CLIENTS, type ClientName, type ListKind, type Plan } from './plan.ts'
import type { PageSample } from './sample.ts'
import type { Took } from './trace.ts'

export interface PageTable {
  readonly title: string
  readonly plan: Omit<Plan, 'client'>
}

const MESSAGES = 5_000
const BURST: Pick<Plan, 'deltas' | 'pace'> = { deltas: 2_000, pace: 0 }
/** As fast as models write. */
const PACED: Pick<Plan, 'deltas' | 'pace'> = { deltas: 500, pace: 100 }

const table = (list: ListKind, answer: Pick<Plan, 'deltas' | 'pace'>): PageTable => {
  const size = `${answer.deltas.toLocaleString('en')} deltas`
  const speed = answer.pace === 0 ? 'in one go' : `at ${answer.pace} a second`
  const rows = list === 'windowed' ? 'a windowed list' : 'every row in the document'
  return { title: `A page of ${MESSAGES.toLocaleString('en')} messages, ${rows}; ${size} ${speed}`, plan: { list, messages: MESSAGES, ...answer } }
}

export const PAGE_TABLES: readonly PageTable[] = [table('windowed', PACED), table('windowed', BURST), table('whole', PACED), table('whole', BURST)]

/** What came of a client: samples, or why there are none. */
export type PageCell = { readonly kind: 'measured'; readonly samples: readonly PageSample[] } | { readonly kind: 'capped' } | { readonly kind: 'failed'; readonly reason: string }

export type PageRows = Readonly<Record<ClientName, PageCell>>

type MedianOf = (pick: (sample: PageSample) => number) => number

/** Of the clock, and in parentheses of the processor. */
const took = (of: MedianOf, pick: (sample: PageSample) => Took): string => `${ms(of((sample) => pick(sample).ms))} (${ms(of((sample) => pick(sample).cpuMs))})`

const COLUMNS: Readonly<Record<string, (of: MedianOf) => string>> = {
  'longest task, streaming': (of) => took(of, ({ streaming }) => streaming),
  sending: (of) => took(of, ({ sending }) => sending),
  'tasks ≥ 50 ms': (of) => whole(of(({ longTasks }) => longTasks)),
  'longest frame': (of) => ms(of(({ frameMs }) => frameMs)),
  'own message': (of) => ms(of(({ paintedMs }) => paintedMs)),
  settled: (of) => whole(of(({ settledMs }) => settledMs)),
  busy: (of) => took(of, ({ busy }) => busy),
  commits: (of) => whole(of(({ commits }) => commits)),
  'rows per commit': (of) => of(({ rows, commits }) => rows / commits).toFixed(2),
  opened: (of) => whole(of(({ openedMs }) => openedMs)),
  'heap MB': (of) => ms(of(({ heapMb }) => heapMb)),
}

const whole = (value: number): string => Math.round(value).toLocaleString('en')

/** Medians over the samples, each figure by itself. */
export function pageGrid(rows: PageRows, capMs: number): string[][] {
  return [
    ['client', ...Object.keys(COLUMNS)],
    ...CLIENTS.map((name) => {
      const cell = rows[name]
      if (cell.kind === 'measured') return [name, ...Object.values(COLUMNS).map((write) => write((pick) => median(cell.samples.map(pick))))]
      const found = { settled: cell.kind === 'capped' ? `> ${capMs.toLocaleString('en')}` : 'failed' } as Readonly<Record<string, string>>
      return [name, ...Object.keys(COLUMNS).map((head) => found[head] ?? '–')]
    }),
  ]
}

export function pageFailures(rows: PageRows): string[] {
  return CLIENTS.flatMap((name) => {
    const cell = rows[name]
    return cell.kind === 'failed' ? `${name}: ${cell.reason}` : []
  })
}

/** The longest task of ours while an answer comes has to be shorter: above it a page is felt to stick (W3C Long Tasks). */
const AIM_MS = 50

/** Whether ours keeps below the aim in all tables. */
export function pageAim(tables: readonly { readonly title: string; readonly rows: PageRows }[]): string {
  const over = tables.flatMap(({ title, rows: { millrace } }) => {
    if (millrace.kind !== 'measured') return []
    const longest = median(millrace.samples.map(({ streaming }) => streaming.ms))
    return longest < AIM_MS ? [] : `${title}: ${ms(longest)}`
  })
  const aim = `While an answer streams no task of ours is to take ${AIM_MS} ms:`
  return over.length === 0 ? `${aim} met in all ${tables.length} tables.` : [`${aim} missed in ${over.length} of ${tables.length} tables.`, ...over.map((line) => `- ${line}`)].join('\n')
}
