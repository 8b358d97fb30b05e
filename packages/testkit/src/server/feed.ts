/** A run from a position on, as pieces to send, with what its fault says about replays and fillers. It knows no connection. */
import type { Bell } from './bell.ts'
import { ENCODINGS, type Format } from './encode.ts'
import type { Ending, Fault } from './fault.ts'
import type { Ids } from './ids.ts'
import type { Run } from './runs.ts'
import type { Piece, Stop } from './spout.ts'

export interface Feed {
  readonly run: Run
  /** Events to leave out. */
  readonly from: number
  readonly format: Format
  readonly fault: Fault
  readonly ids: Ids
  readonly bell: Bell
  /** Nobody wants more. */
  readonly over: () => boolean
}

/** Batches of what is there at the same time, as the run is released, until it ends. */
export async function* feed({ run, from, format, fault, ids, bell, over }: Feed): AsyncGenerator<readonly Piece[], void, undefined> {
  const encoding = ENCODINGS[format]
  const { heartbeat, retryMs, replay } = fault
  const retry = retryMs === undefined ? undefined : encoding.retry(retryMs)
  if (retry !== undefined) yield [{ bytes: retry, event: false }]
  let n = startOf(fault, from)
  let sent = 0
  for (;;) {
    await bell.until(() => over() || run.available > n || run.state !== 'running')
    if (over() || run.available <= n) return
    const pieces: Piece[] = []
    for (const item of run.read(n)) {
      n++
      const bytes = encoding.event(item, ids.idOf(run.input.runId, n))
      for (let times = replay === 'twice' ? 2 : 1; times > 0; times--) {
        pieces.push({ bytes, event: true })
        sent++
        if (heartbeat !== undefined && sent % heartbeat.every === 0) pieces.push({ bytes: encoding.heartbeat(heartbeat.as), event: false })
      }
    }
    yield pieces
  }
}

/** All of a run's pieces, once it has ended. */
export async function wholeFeed(options: Feed): Promise<readonly Piece[]> {
  const pieces: Piece[] = []
  for await (const batch of feed(options)) pieces.push(...batch)
  return pieces
}

function startOf({ replay }: Fault, from: number): number {
  if (replay === 'start') return 0
  return typeof replay === 'object' ? Math.max(0, from - replay.overlap) : from
}

/** The place of an ending, in what this answer sends; undefined if there is none, or it is in the head. */
export function stopOf(ending: Ending | undefined, { run, from, fault }: Pick<Feed, 'run' | 'from' | 'fault'>): Stop | undefined {
  if (ending === undefined || 'head' in ending.at) return undefined
  const { at, how } = ending
  if ('byte' in at || at.event >= 0) return { at, how }
  const total = (run.length - startOf(fault, from)) * (fault.replay === 'twice' ? 2 : 1)
  return { at: { event: Math.max(0, total + at.event) }, how }
}
