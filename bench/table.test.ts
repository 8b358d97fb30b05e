/** What a table says of contenders that were measured, stopped, left out and wrong. */
import { expect, it } from 'vitest'
import { closing } from './report.ts'
import type { Cell, TableResult } from './runner.ts'
import { asMarkdown, asText, failures, gridOf } from './table.ts'

const took = (firstMs: number, ms?: number): Cell => ({
  kind: 'measured',
  firstMs,
  ...(ms !== undefined && { ms }),
  microsecondsPerEvent: ms ?? firstMs,
  rssMb: 80.4,
  heapMb: 1,
  processes: 3,
})

const result: TableResult = {
  title: 'One message',
  entry: 'push',
  columns: [
    { head: '10 deltas', watch: { kind: 'end' } },
    { head: '20 deltas', watch: { kind: 'end' } },
  ],
  rows: [
    { name: 'floor', cells: [took(2, 1), took(4, 2)] },
    { name: 'millrace', cells: [took(3, 2), took(8, 5)] },
    { name: 'ag-ui run', cells: [{ kind: 'capped', capMs: 20_000 }, { kind: 'left-out' }] },
    { name: 'tanstack', cells: [took(7_000), { kind: 'failed', reason: 'wrong text: 1 units, not 2; they part at 0' }] },
  ],
}

it('shows warm and first figures, ratios to the floor and to us, and growth', () => {
  expect(gridOf(result)).toEqual([
    ['contender', '10 deltas', '20 deltas', '× floor', '× millrace', 'µs per event', 'RSS MB', 'heap MB'],
    ['floor', '1.00 (2.00)', '2.00 (4.00)', '', '', '1.00 → 2.00', '80', '1'],
    ['millrace', '2.00 (3.00)', '5.00 (8.00)', '2.00× 2.50×', '', '2.00 → 5.00', '80', '1'],
    ['ag-ui run', '> 20,000', '–', '> 20,000× –', '> 10,000× –', '', '', ''],
    ['tanstack', '7,000', 'wrong', '7,000× –', '3,500× –', '7,000 → –', '80', '1'],
  ])
})

it('says why there is no figure', () => {
  expect(failures(result)).toEqual(['tanstack, 20 deltas: wrong text: 1 units, not 2; they part at 0'])
})

it('is aligned in a terminal and a table in Markdown', () => {
  expect(asText(gridOf(result)).split('\n')[1]).toBe('  floor      1.00 (2.00)  2.00 (4.00)                             1.00 → 2.00      80        1')
  expect(asMarkdown([['a', 'b'], ['1', '2']])).toBe('| a | b |\n|---|--:|\n| 1 | 2 |')
})

it('names the places where we are over the aim, and only those', () => {
  expect(closing('text', [result])).toContain('missed in 1 of 2 places.\n\n- One message, 20 deltas: 2.50×\n')
})

it('shows what the event loop had of a connection', () => {
  const loop = { blockMs: 9.25, p99Ms: 8, macrotasksPerEvent: 0.0004 }
  const rows: TableResult['rows'] = [
    { name: 'floor', cells: [took(2, 1), took(4, 2)] },
    { name: 'millrace', cells: [{ ...took(2, 1), loop } as Cell, { kind: 'capped', capMs: 20_000 }] },
  ]
  const [head, floor, ours] = gridOf({ ...result, entry: 'connection', rows })
  expect(head?.slice(6)).toEqual(['block ms (p99)', 'macrotasks per event', 'RSS MB', 'heap MB'])
  expect(floor?.slice(6, 8)).toEqual(['', ''])
  expect(ours?.slice(6, 8)).toEqual(['9.25 (8.00) · –', '0.000 · –'])
})

it('says what cutting costs', () => {
  const watch = { kind: 'end' } as const
  const columns = [{ head: 'never', watch, breaks: 0 }, { head: '20 times', watch, breaks: 20 }]
  const rows: TableResult['rows'] = [{ name: 'millrace', cells: [took(90, 50), took(200, 150)] }]
  const cut: TableResult = { title: 'The connection cut', entry: 'connection', columns, rows }
  expect(closing('text', [cut])).toContain('The connection cut 20 times: 3.00× the time of the whole one, 5.00 ms more for each cut.')
})
