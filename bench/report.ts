/** What `npm run bench` prints around its tables, as text or as the Markdown that stands in the README. */
import { CONTENDERS, type ContenderName } from './contenders/all.ts'
import { machine, ms, ratio } from './figures.ts'
import type { RunOptions, TableResult } from './runner.ts'
import { asMarkdown, asText, failures, figureOf, gridOf } from './table.ts'

export type Style = 'text' | 'markdown'

/** The most that our way from bytes to messages may take, as a multiple of the floor. */
const AIM = 2

export function opening(style: Style, command: string, { rounds, capMs }: RunOptions): string {
  const day = new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' })
  const what = `${machine()}, ${day}, ${style === 'markdown' ? `\`${command}\`` : command}`
  const how = `ms when warm (in the first round of a process); medians of up to ${rounds} processes, stopped after ${capMs / 1_000} s a round`
  return style === 'markdown' ? `${what}. Figures are ${how}.\n` : `${what}\n${how}\n`
}

export function tableReport(style: Style, table: TableResult): string {
  const told = failures(table)
  if (style === 'text') return [`${table.title}`, asText(gridOf(table)), ...told.map((line) => `  no figure: ${line}`), ''].join('\n')
  return [`**${table.title}**\n`, asMarkdown(gridOf(table)), '', ...(told.length > 0 ? [`No figure: ${told.join('; ')}.\n`] : [])].join('\n')
}

/** Who the contenders were, and where we are over our aim. */
export function closing(style: Style, tables: readonly TableResult[]): string {
  const names = (Object.keys(CONTENDERS) as ContenderName[]).filter((name) => tables.some(({ rows }) => rows.some((row) => row.name === name)))
  const notes = names.map((name) => `- ${style === 'markdown' ? `**${name}**` : name}: ${CONTENDERS[name].note}`)
  return [...notes, '', ...aims(tables), ...resuming(tables)].join('\n')
}

/** Where both the floor and we have a figure, and do the same: where somebody watches the floor does less. */
function toFloor(tables: readonly TableResult[]): { readonly bytes: boolean; readonly place: string; readonly times: number }[] {
  return tables.flatMap(({ title, entry, columns, rows }) =>
    columns.flatMap(({ head, watch }, column) => {
      const [floor, ours] = ['floor', 'millrace'].map((name) => figureOf(rows.find((row) => row.name === name)?.cells[column]))
      if (floor === undefined || ours === undefined || watch.kind !== 'end') return []
      return { bytes: entry !== 'texts', place: `${title}, ${head}`, times: ours / floor }
    }),
  )
}

/** The aim is for bytes; for events that are there as texts the range is told. */
function aims(tables: readonly TableResult[]): string[] {
  const all = toFloor(tables)
  const ofBytes = all.filter(({ bytes }) => bytes)
  const ofTexts = all.flatMap(({ bytes, times }) => (bytes ? [] : times))
  const missed = ofBytes.filter(({ times }) => times > AIM)
  const aim = `From bytes to messages the aim is at most ${AIM} times the floor:`
  return [
    ...(ofBytes.length > 0 && missed.length === 0 ? [`${aim} met in all ${ofBytes.length} places.`, ''] : []),
    ...(missed.length > 0 ? [`${aim} missed in ${missed.length} of ${ofBytes.length} places.`, '', ...missed.map(({ place, times }) => `- ${place}: ${ratio(times, 1)}`), ''] : []),
    ...(ofTexts.length > 0 ? [`Where events come as JSON texts we take ${ratio(Math.min(...ofTexts), 1)} to ${ratio(Math.max(...ofTexts), 1)} the floor's time.`, ''] : []),
  ]
}

/** What a connection that is cut costs us, beside the same one whole. */
function resuming(tables: readonly TableResult[]): string[] {
  return tables.flatMap(({ title, columns, rows }) => {
    const cells = rows.find(({ name }) => name === 'millrace')?.cells ?? []
    const whole = figureOf(cells[columns.findIndex(({ breaks }) => breaks === 0)])
    return columns.flatMap(({ head, breaks = 0 }, column) => {
      const cut = figureOf(cells[column])
      if (breaks === 0 || whole === undefined || cut === undefined) return []
      return [`${title} ${head}: ${ratio(cut, whole)} the time of the whole one, ${ms((cut - whole) / breaks)} ms more for each cut.`, '']
    })
  })
}
