/** What a table of the page says of clients that were measured, stopped and wrong. */
import { expect, it } from 'vitest'
import type { PageSample } from './sample.ts'
import { pageAim, pageFailures, pageGrid, type PageRows } from './tables.ts'

const sample = (streaming: number): PageSample => ({
  streaming: { ms: streaming, cpuMs: streaming / 2 },
  sending: { ms: 20, cpuMs: 12 },
  busy: { ms: 900, cpuMs: 800 },
  longTasks: 0,
  longTasksMs: 0,
  frames: 300,
  frameMs: 33.4,
  paintedMs: 40,
  settledMs: 5_100,
  commits: 500,
  rows: 505,
  openedMs: 200,
  heapMb: 7,
})

const rows = (...streaming: number[]): PageRows => ({
  millrace: { kind: 'measured', samples: streaming.map(sample) },
  tanstack: { kind: 'capped' },
  ai: { kind: 'failed', reason: 'wrong: 3 messages, not 5002' },
})

it('gives medians, the cap, and no figure for a wrong answer', () => {
  const [head, ours, stopped, wrong] = pageGrid(rows(9, 12, 70), 20_000) as [string[], string[], string[], string[]]
  const cell = (row: string[], name: string): string | undefined => row[head.indexOf(name)]
  expect(cell(ours, 'longest task, streaming')).toBe('12.0 (6.00)')
  expect(cell(ours, 'settled')).toBe('5,100')
  expect(cell(ours, 'rows per commit')).toBe('1.01')
  expect([stopped[0], cell(stopped, 'settled'), cell(stopped, 'commits')]).toEqual(['tanstack', '> 20,000', '–'])
  expect([wrong[0], cell(wrong, 'settled')]).toEqual(['ai', 'failed'])
  expect(pageFailures(rows(9))).toEqual(['ai: wrong: 3 messages, not 5002'])
})

it('says where ours is over its aim', () => {
  expect(pageAim([{ title: 'one', rows: rows(9) }])).toMatch(/met in all 1 table/)
  expect(pageAim([{ title: 'one', rows: rows(9) }, { title: 'two', rows: rows(51) }])).toMatch(/missed in 1 of 2 tables[^]*- two: 51\.0/)
})
