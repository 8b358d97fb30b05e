/** A table as rows of text, for a terminal and for Markdown. */
import { ms, ratio } from './figures.ts'
import type { Cell, Row, TableResult } from './runner.ts'

type Grid = readonly (readonly string[])[]
type Loop = NonNullable<(Cell & { readonly kind: 'measured' })['loop']>

/** The figure that stands for a contender, in ms: warm, or the first where a round takes too long for more. */
export function figureOf(cell: Cell | undefined): number | undefined {
  return cell?.kind === 'measured' ? (cell.ms ?? cell.firstMs) : undefined
}

function figure(cell: Cell): string {
  switch (cell.kind) {
    case 'measured':
      return cell.ms === undefined ? ms(cell.firstMs) : `${ms(cell.ms)} (${ms(cell.firstMs)})`
    case 'capped':
      return `> ${cell.capMs.toLocaleString('en')}`
    case 'left-out':
      return '–'
    case 'failed':
      return cell.reason.startsWith('wrong') ? 'wrong' : 'failed'
  }
}

/** Ratios to another row, column by column; empty for that row itself. */
function ratios(row: Row, to: Row | undefined): string {
  if (to === undefined || to.name === row.name) return ''
  const all = row.cells.map((cell, index) => {
    const [own, other] = [figureOf(cell), figureOf(to.cells[index])]
    if (other === undefined) return '–'
    if (own !== undefined) return ratio(own, other)
    return cell.kind === 'capped' ? `> ${ratio(cell.capMs, other)}` : '–'
  })
  return all.join(' ')
}

/** Time per event from column to column: alike if a contender is linear. */
function growth({ cells }: Row): string {
  const all = cells.map((cell) => (cell.kind === 'measured' ? ms(cell.microsecondsPerEvent) : '–'))
  return all.every((one) => one === '–') ? '' : all.join(' → ')
}

function memory({ cells }: Row, pick: 'rssMb' | 'heapMb'): string {
  const last = cells.findLast((cell) => cell.kind === 'measured')
  return last === undefined ? '' : Math.round(last[pick]).toLocaleString('en')
}

/** What the event loop had of it, column by column. */
function loops({ cells }: Row, pick: (loop: Loop) => string): string {
  const all = cells.map((cell) => (cell.kind === 'measured' && cell.loop !== undefined ? pick(cell.loop) : '–'))
  return all.every((one) => one === '–') ? '' : all.join(' · ')
}

export function gridOf({ entry, columns, rows }: TableResult): Grid {
  const rowOf = (name: string): Row | undefined => rows.find((row) => row.name === name)
  const [floor, ours] = [rowOf('floor'), rowOf('millrace')]
  const looped = entry === 'connection'
  return [
    [
      'contender',
      ...columns.map(({ head }) => head),
      '× floor',
      '× millrace',
      'µs per event',
      ...(looped ? ['block ms (p99)', 'macrotasks per event'] : []),
      'RSS MB',
      'heap MB',
    ],
    ...rows.map((row) => [
      row.name,
      ...row.cells.map(figure),
      ratios(row, floor),
      row.name === 'floor' ? '' : ratios(row, ours),
      growth(row),
      ...(looped ? [loops(row, ({ blockMs, p99Ms }) => `${ms(blockMs)} (${ms(p99Ms)})`), loops(row, ({ macrotasksPerEvent }) => macrotasksPerEvent.toFixed(3))] : []),
      memory(row, 'rssMb'),
      memory(row, 'heapMb'),
    ]),
  ]
}

/** Why there are no figures, a line for each. */
export function failures({ columns, rows }: TableResult): string[] {
  return rows.flatMap(({ name, cells }) =>
    cells.flatMap((cell, index) => (cell.kind === 'failed' ? `${name}, ${columns[index]?.head}: ${cell.reason}` : [])),
  )
}

export function asText(grid: Grid): string {
  const widths = (grid[0] ?? []).map((_, column) => Math.max(...grid.map((row) => row[column]?.length ?? 0)))
  const pad = (text: string, column: number): string => (column === 0 ? text.padEnd(widths[0] as number) : text.padStart(widths[column] as number))
  return grid.map((row) => `  ${row.map(pad).join('  ')}`.trimEnd()).join('\n')
}

export function asMarkdown([head = [], ...rows]: Grid): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), `|${head.map((_, column) => (column === 0 ? '---' : '--:')).join('|')}|`, ...rows.map(line)].join('\n')
}
