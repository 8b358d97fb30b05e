/** What is measured against what: the tables of `npm run bench`, in groups that can be asked for by name. */
import type { ContenderName } from './contenders/all.ts'
import type { Entry, Watch } from './contenders/contender.ts'
import { oneLargeEvent } from './workloads/large-event.ts'
import { mixedRuns } from './workloads/mixed.ts'
import { patches } from './workloads/state.ts'
import type { Workload } from './workloads/stream.ts'
import { answered, oneMessage, overHistory } from './workloads/text.ts'
import { toolArguments } from './workloads/tools.ts'
import type { Cuts } from './workloads/wire.ts'

/** One size of a table, or another thing that changes along it. */
export interface Column {
  readonly head: string
  readonly workload: Workload
  readonly watch: Watch
  /** How often the server cuts the connection of a run that can be resumed. Absent: it does not. */
  readonly breaks?: number
}

/** Contenders side by side, over columns that ask for more and more. */
export interface Table {
  readonly title: string
  /** `connection`: the contender asks a server for the stream itself. */
  readonly entry: Entry | 'connection'
  readonly cuts: Cuts
  readonly columns: readonly Column[]
  readonly contenders: readonly ContenderName[]
}

const END: Watch = { kind: 'end' }

function table(title: string, contenders: readonly ContenderName[], columns: readonly Column[], how: Partial<Pick<Table, 'entry' | 'cuts'>> = {}): Table {
  return { title, contenders, columns, entry: 'texts', cuts: 'uneven', ...how }
}

/** A column for each size. */
function sizes<Size>(workload: (size: Size) => Workload, all: readonly Size[], watch: Watch = END): Column[] {
  return all.map((size) => workload(size)).map((one) => ({ head: one.size, workload: one, watch }))
}

/** A column for each way to watch the same stream. */
function watches(workload: Workload, all: Readonly<Record<string, Watch>>): Column[] {
  return Object.entries(all).map(([head, watch]) => ({ head, workload, watch }))
}

const PUSHED: readonly ContenderName[] = ['floor', 'millrace']
const RESPONDED: readonly ContenderName[] = ['floor', 'millrace', 'ag-ui run', 'tanstack', 'ai']
const PIECES = 'SSE in pieces of 1–1,500 bytes'

/** The two ways bytes come in. */
const bytes = (title: string, columns: readonly Column[], cuts: Cuts = 'uneven'): Table[] => [
  table(`${title}, pushed`, PUSHED, columns, { entry: 'push', cuts }),
  table(`${title}, from a Response`, RESPONDED, columns, { entry: 'response', cuts }),
]

const overHttp = (title: string, columns: readonly Column[], cuts: Cuts, contenders = RESPONDED): Table =>
  table(title, contenders, columns, { entry: 'connection', cuts })

/** Without who waits for a timer at every event, whatever the pieces: the table of one go says how long that is. */
const UNTIMED: readonly ContenderName[] = RESPONDED.filter((name) => name !== 'tanstack')

/** A column for each number of cuts of the same stream. */
function breaks(workload: Workload, all: Readonly<Record<string, number>>): Column[] {
  return Object.entries(all).map(([head, count]) => ({ head, workload, watch: END, breaks: count }))
}

/** With what makes it a run, and a message. */
const TEN_THOUSAND: Workload = { ...answered(9_996), size: '10,000 events' }

const overMessages = (messages: number): Workload => overHistory(messages, 5_000)

export const GROUPS: Readonly<Record<string, readonly Table[]>> = {
  text: [
    table('One message', ['floor', 'millrace', 'ag-ui verify', 'ag-ui apply', 'ag-ui run', 'tanstack', 'ai'], sizes(oneMessage, [2_000, 20_000, 100_000])),
  ],
  history: [
    table('5,000 text deltas over a history', ['floor', 'millrace', 'ag-ui apply', 'ag-ui run', 'tanstack', 'ai'], sizes(overMessages, [100, 1_000, 5_000])),
  ],
  tools: [
    table('Tool arguments in 20-byte deltas that nobody reads', ['floor', 'millrace', 'ag-ui apply', 'ag-ui run'], sizes(toolArguments, [20, 100, 500])),
    table(
      'Tool arguments in 20-byte deltas, read at every delta',
      ['floor', 'millrace', 'ag-ui run', 'tanstack', 'ai'],
      sizes(toolArguments, [20, 100, 500], { kind: 'arguments' }),
    ),
  ],
  state: [table('5,000 patches on a shared state', ['floor', 'millrace', 'ag-ui apply', 'ag-ui run'], sizes((size: number) => patches(5_000, size), [100_000, 1_000_000]))],
  mixed: [table('Mixed runs', ['floor', 'millrace', 'ag-ui verify', 'ag-ui apply', 'ag-ui run', 'tanstack', 'ai'], sizes(mixedRuns, [20, 200]))],
  bytes: [...bytes(`One message, ${PIECES}`, sizes(oneMessage, [20_000])), ...bytes(`Mixed runs, ${PIECES}`, sizes(mixedRuns, [20, 200]))],
  'large-event': bytes('One event in 1 KiB pieces', sizes(() => oneLargeEvent, ['1 MiB']), 'even'),
  subscribers: [
    table(
      '5,000 text deltas, with subscribers',
      ['floor', 'millrace', 'ag-ui run'],
      watches(oneMessage(5_000), {
        none: { kind: 'subscribers', count: 0 },
        '1 subscriber': { kind: 'subscribers', count: 1 },
        '10 subscribers': { kind: 'subscribers', count: 10 },
      }),
    ),
  ],
  snapshots: [
    table(
      '5,000 text deltas over 1,000 messages, with snapshots',
      ['floor', 'millrace', 'tanstack'],
      watches(overMessages(1_000), { never: END, 'every 64 events': { kind: 'snapshots', every: 64 }, 'every event': { kind: 'snapshots', every: 1 } }),
    ),
  ],
  connection: [
    overHttp('One answer over HTTP, in one go', sizes(answered, [2_000, 20_000]), 'large'),
    overHttp('One answer over HTTP, in 200-byte pieces', sizes(answered, [20_000]), 'small', UNTIMED),
    overHttp('2,000 deltas over HTTP, over a history that is sent along', sizes((messages: number) => answered(2_000, messages), [2_000]), 'large'),
    overHttp('A burst over HTTP, in one write', sizes(() => TEN_THOUSAND, ['10,000 events']), 'whole'),
    overHttp('20,000 deltas over HTTP, the connection cut', breaks(answered(20_000), { never: 0, '20 times': 20 }), 'whole', ['millrace']),
  ],
}

/** @param path group, table and column, as another process is told them. */
export function findColumn([group = '', table = '', column = '']: readonly string[]): { readonly table: Table; readonly column: Column } {
  const found = (GROUPS[group] as readonly Table[])[Number(table)] as Table
  return { table: found, column: found.columns[Number(column)] as Column }
}
