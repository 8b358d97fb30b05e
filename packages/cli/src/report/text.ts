// The report for people: a line for each finding, what to do about each rule once, and a summary.
import { RULES, type RuleId, type Severity } from '@millrace/protocol'
import { count, oneLine, printable, type Colours } from '../terminal.ts'
import { omitted, type CheckedRun, type CheckReport, type Finding } from './check-report.ts'

const MARKS: Readonly<Record<Severity, string>> = { error: '✖', warning: '⚠', info: 'ℹ' }

export function toText(report: CheckReport, colours: Colours): string {
  const lines = [`${colours.bold(printable(report.name))} ${colours.dim(`${report.format}, ${count(report.events, 'event')}`)}`, '']
  const explained = new Set<RuleId>()
  let stream: string | undefined
  for (const finding of report.diagnostics) {
    if (finding.stream !== stream) {
      stream = finding.stream
      if (stream !== undefined) lines.push(colours.underline(oneLine(stream)), '')
    }
    lines.push(...findingLines(finding, !explained.has(finding.rule), colours), '')
    explained.add(finding.rule)
  }
  const more = omitted(report)
  if (more > 0) lines.push(colours.dim(`… and ${count(more, 'finding')} more`), '')
  for (const run of report.runs) lines.push(runLine(run, colours))
  lines.push(summaryLine(report, colours), '')
  return lines.join('\n')
}

function findingLines(finding: Finding, explain: boolean, colours: Colours): string[] {
  const { severity, rule, message, event, line, type, pointer, related } = finding
  const colour = severityColour(severity, colours)
  const where = [event === null ? 'end of stream' : `event ${event}`, line === undefined ? '' : `line ${line}`]
  const place = where.filter((part) => part !== '').join(', ')
  const about = [type, pointer, related === undefined ? undefined : `see event ${related}`]
    .filter((part) => part !== undefined && part !== '')
    .map((part) => oneLine(part as string))
    .join('  ')
  return [
    `${colour(`${MARKS[severity]} ${severity.padEnd(7)}`)}  ${colours.bold(rule)}  ${place}  ${colours.dim(about)}`.trimEnd(),
    `  ${oneLine(message, 400)}`,
    ...(explain ? [colours.dim(`  → ${RULES[rule].explanation}`)] : []),
  ]
}

function runLine({ threadId, runId, outcome, error }: CheckedRun, colours: Colours): string {
  const ok = outcome === 'finished' || outcome === 'interrupted' || outcome === 'cancelled'
  const name = [runId, threadId === undefined ? undefined : `in thread ${threadId}`].filter((part) => part !== undefined)
  const label = name.length === 0 ? '(no RUN_STARTED)' : oneLine(name.join(' '))
  const why = error === undefined ? '' : colours.dim(` (${oneLine(error, 100)})`)
  return `${colours.dim('run')} ${label}: ${(ok ? colours.green : colours.red)(outcome)}${why}`
}

function summaryLine({ summary }: CheckReport, colours: Colours): string {
  const { errors, warnings, infos } = summary
  const parts = [count(errors, 'error'), count(warnings, 'warning'), count(infos, 'info')].join(', ')
  if (errors > 0) return colours.red(colours.bold(`✖ ${parts}`))
  return warnings > 0 ? colours.yellow(`⚠ ${parts}`) : colours.green(`✔ ${parts}`)
}

function severityColour(severity: Severity, colours: Colours): (text: string) => string {
  return { error: colours.red, warning: colours.yellow, info: colours.cyan }[severity]
}
