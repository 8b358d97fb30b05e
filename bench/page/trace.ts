/** What a trace of Chromium says of the main thread of a page. It knows no page but by its marks. */
import { MARKS } from './observed.ts'

/** An event of the Trace Event Format; times in µs. */
export interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  readonly ts: number
  readonly dur?: number
}

export interface MainThread {
  /** The longest task that began before the answer showed: sending, and what it took to send. In ms. */
  readonly sendingMs: number
  /** The longest one after that, to the end of the answer. */
  readonly streamingMs: number
  /** All tasks together. */
  readonly busyMs: number
}

/** A task, and the microtasks after it, which Chromium traces beside it: to who waits they are one. */
const TASK = 'ThreadControllerImpl::RunTask'
const MICROTASKS = 'BlinkScheduler_PerformMicrotaskCheckpoint'

/** What has to be in the trace. */
export const CATEGORIES = ['toplevel', 'blink.user_timing']

interface Span {
  readonly start: number
  end: number
}

function tasksOf(events: readonly TraceEvent[], { pid, tid }: TraceEvent): Span[] {
  const own = events.filter((event) => event.pid === pid && event.tid === tid && event.ph === 'X' && (event.name === TASK || event.name === MICROTASKS))
  const tasks: Span[] = []
  for (const { name, ts, dur = 0 } of own.toSorted((a, b) => a.ts - b.ts)) {
    const last = tasks.at(-1)
    // A loop within a task, as a dialog has one, is a part of it.
    if (last !== undefined && (name === MICROTASKS || ts < last.end)) last.end = Math.max(last.end, ts + dur)
    else tasks.push({ start: ts, end: ts + dur })
  }
  return tasks
}

/** @throws Error if a mark is not there. */
export function mainThread(events: readonly TraceEvent[]): MainThread {
  const mark = (name: string): TraceEvent => {
    const found = events.find((event) => event.name === name)
    if (found === undefined) throw new Error(`no mark ${name} in the trace`)
    return found
  }
  const sent = mark(MARKS.sent)
  const [answered, settled] = [mark(MARKS.answered).ts, mark(MARKS.settled).ts]
  // A mark lies within the task that made it.
  const tasks = tasksOf(events, sent).filter(({ start, end }) => end > sent.ts && start < settled)
  const lengths = (some: readonly Span[]): number[] => some.map(({ start, end }) => (end - start) / 1_000)
  const longest = (some: readonly Span[]): number => Math.max(0, ...lengths(some))
  return {
    sendingMs: longest(tasks.filter(({ end }) => end <= answered)),
    streamingMs: longest(tasks.filter(({ end }) => end > answered)),
    busyMs: lengths(tasks).reduce((sum, length) => sum + length, 0),
  }
}
