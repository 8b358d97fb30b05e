/** Tasks are told from a trace: whose they are, what belongs to one, and when it was. */
import { expect, it } from 'vitest'
import { MARKS } from './observed.ts'
import { mainThread, type TraceEvent } from './trace.ts'

const at = (ms: number, name: string, dur: number, more: Partial<TraceEvent> = {}): TraceEvent => ({
  name,
  ph: 'X',
  pid: 1,
  tid: 1,
  ts: ms * 1_000,
  dur: dur * 1_000,
  tdur: dur * 500,
  ...more,
})
const task = (ms: number, dur: number, more?: Partial<TraceEvent>): TraceEvent => at(ms, 'ThreadControllerImpl::RunTask', dur, more)
const microtasks = (ms: number, dur: number): TraceEvent => at(ms, 'BlinkScheduler_PerformMicrotaskCheckpoint', dur)
const mark = (ms: number, name: string): TraceEvent => at(ms, name, 0, { ph: 'I' })

const marks = [mark(5, MARKS.sent), mark(45, MARKS.answered), mark(100, MARKS.settled)]

it('tells the longest task before the answer from the longest after it, of the clock and of the processor', () => {
  expect(mainThread([...marks, task(0, 20), task(25, 10), task(40, 12), task(90, 30), task(101, 80)])).toEqual({
    sending: { ms: 20, cpuMs: 10 },
    streaming: { ms: 30, cpuMs: 15 },
    busy: { ms: 72, cpuMs: 36 },
  })
})

it('counts microtasks to the task before them, and what lies within a task once', () => {
  const { sending, streaming } = mainThread([...marks, task(4, 10), microtasks(14, 6), task(40, 2), microtasks(42, 30), task(74, 4), microtasks(75, 1), task(76, 1)])
  expect(sending).toEqual({ ms: 16, cpuMs: 8 })
  expect(streaming).toEqual({ ms: 32, cpuMs: 16 })
})

it('looks at the thread of the marks alone', () => {
  expect(mainThread([...marks, task(6, 5), task(6, 50, { tid: 2 }), task(6, 60, { pid: 2 })]).sending.ms).toBe(5)
})

it('takes the clock where the processor is not known, and refuses a trace that was cut', () => {
  const { tdur: _, ...unknown } = task(50, 7)
  expect(mainThread([...marks, unknown]).streaming).toEqual({ ms: 7, cpuMs: 7 })
  expect(() => mainThread(marks.slice(0, 2))).toThrow(MARKS.settled)
})
