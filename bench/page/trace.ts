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
  /** As `dur`, of the processor's time alone: what others got meanwhile is not in it. */
  readonly tdur?: number
}

/** Lengths of tasks in ms, and in ms of the processor. */
export interface Took {
  readonly ms: number
  readonly cpuMs: number
}

export interface MainThread {
  /** The longest task that began before the answer showed: it shows the question and sends it, with all that was said before. */
  readonly sending: Took
  /** The longest one after that, to the end of the answer. */
  readonly streaming: Took
  /** All tasks together. */
  readonly busy: Took
}

/** A task, and the microtasks after it, which Chromium traces beside it: to who waits they are one. */
const TASK = 'ThreadControllerImpl::RunTask'
const MICROTASKS = 'BlinkScheduler_PerformMicrotaskCheckpoint'

/** What has to be in the trace. */
export const CATEGORIES = ['toplevel', 'blink.user_timing']

interface Task {
  readonly start: number
  end: number
  cpu: number
}

function tasksOf(events: readonly TraceEvent[], { pid, tid }: TraceEvent): Task[] {
  const own = events.filter((event) => event.pid === pid && event.tid === tid && event.ph === 'X' && (event.name === TASK || event.name === MICROTASKS))
  const tasks: Task[] = []
  for (const { name, ts, dur = 0, tdur = dur } of own.toSorted((a, b) => a.ts - b.ts)) {
    const last = tasks.at(-1)
    if (last === undefined || (name === TASK && ts >= last.end)) tasks.push({ start: ts, end: ts + dur, cpu: tdur })
    else if (ts >= last.end) {
      last.end = ts + dur
      last.cpu += tdur
    }
    // What else lies within a task is a part of it.
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
  const took = (some: readonly Task[], join: (...all: number[]) => number): Took => ({
    ms: join(0, ...some.map(({ start, end }) => end - start)) / 1_000,
    cpuMs: join(0, ...some.map(({ cpu }) => cpu)) / 1_000,
  })
  return {
    sending: took(tasks.filter(({ end }) => end <= answered), Math.max),
    streaming: took(tasks.filter(({ end }) => end > answered), Math.max),
    busy: took(tasks, (...all) => all.reduce((sum, one) => sum + one)),
  }
}
