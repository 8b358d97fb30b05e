// What `fold` made of a stream, for people: the conversation, the state, how it ended.
import { RULES, type ContentPart, type RuleId, type UIMessage, type UIPart } from '@millrace/protocol'
import { count, oneLine, printable, type Colours } from '../terminal.ts'
import type { FoldReport } from './fold-report.ts'

/** Width of the first column. */
const LABEL = 11
/** Findings shown; they are what \`check\` is for. */
const SHOWN = 20

export function foldToText(report: FoldReport, colours: Colours): string {
  const head = `${colours.bold(printable(report.name))} ${colours.dim(`${report.format}, ${count(report.events, 'event')}`)}`
  const lines = [head, '']
  for (const message of report.ui) lines.push(...messageLines(message, colours), '')
  const state = JSON.stringify(report.state) ?? 'undefined'
  if (state !== '{}') lines.push(row('state', printable(JSON.stringify(report.state, null, 2)), colours.cyan), '')
  for (const { id, reason, message } of report.interrupts) {
    lines.push(row('interrupt', oneLine(`${message ?? reason} (${id})`), colours.yellow))
  }
  for (const { severity, rule, message, event } of report.diagnostics.slice(0, SHOWN)) {
    const colour = { error: colours.red, warning: colours.yellow, info: colours.cyan }[severity]
    lines.push(row(severity, `${rule}${event === null ? '' : ` at event ${event}`}: ${oneLine(message)}`, colour))
  }
  const more = report.diagnostics.length - SHOWN
  if (more > 0) lines.push(row('', colours.dim(`… and ${count(more, 'finding')} more; millrace check shows all`), plain))
  lines.push(...ending(report, colours), '')
  return lines.join('\n')
}

function ending({ outcome, at, error, runs }: FoldReport, colours: Colours): string[] {
  const good = outcome === 'finished' || outcome === 'interrupted' || outcome === 'cancelled'
  const mark = good ? colours.green(`✔ ${outcome}`) : colours.red(`✖ ${outcome}`)
  const where = at === null ? '' : colours.dim(` at event ${at}`)
  const many = runs.length > 1 ? colours.dim(`, the last of ${runs.length} runs`) : ''
  const advice = error?.rule !== undefined && Object.hasOwn(RULES, error.rule) ? RULES[error.rule as RuleId].explanation : undefined
  return [
    `${mark}${where}${many}`,
    ...(error === null ? [] : [`  ${oneLine(error.message, 400)}`]),
    ...(advice === undefined ? [] : [colours.dim(`  → ${advice}`)]),
  ]
}

function messageLines(message: UIMessage, colours: Colours): string[] {
  const speaker = message.role === 'user' ? colours.green : colours.blue
  const lines = message.parts.map((part, index) => {
    const [label, text, paint] = describe(part, message.role, colours)
    const shown = label === message.role && index > 0 && message.parts[index - 1]?.type === 'text' ? '' : label
    return row(shown, text, label === message.role ? speaker : colours.dim, paint)
  })
  return lines.length > 0 ? lines : [row(message.role, colours.dim('(empty)'), speaker)]
}

type Paint = (text: string) => string
const plain: Paint = (text) => text

function describe(part: UIPart, role: string, colours: Colours): [label: string, text: string, paint: Paint] {
  switch (part.type) {
    case 'text':
      return [role, printable(part.content.trimEnd()), plain]
    case 'thinking':
      return ['thinking', printable(part.content.trimEnd()), colours.dim]
    case 'tool-call': {
      const answer = part.result === undefined ? colours.yellow('(no result)') : resultText(part.result.content, colours)
      return ['tool', `${colours.bold(oneLine(part.name))}(${oneLine(part.arguments)})\n→ ${answer}`, plain]
    }
    case 'tool-result':
      return ['tool', `→ ${resultText(part.content, colours)}`, plain]
    case 'activity':
      return ['activity', `${colours.bold(oneLine(part.activityType))} ${oneLine(JSON.stringify(part.content))}`, plain]
    case 'structured-output':
      return ['output', oneLine(part.raw), plain]
    default: {
      const { source } = part
      const size = source.type === 'data' ? `${source.mimeType}, ${count(source.value.length, 'character')} of base64` : source.value
      return [part.type, oneLine(size), plain]
    }
  }
}

function resultText(content: string | readonly ContentPart[], colours: Colours): string {
  const text = typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join(' ')
  return text === '' ? colours.dim('(empty)') : oneLine(text)
}

/** A label and a text of any number of lines beside it. */
function row(label: string, text: string, colour: Paint, paint: Paint = plain): string {
  return text
    .split('\n')
    .map((line, index) => `${index === 0 ? colour(label.padEnd(LABEL)) : ' '.repeat(LABEL)}${paint(line)}`.trimEnd())
    .join('\n')
}
