// The report as GitHub workflow commands, which show findings at their line in a pull request.
import type { Severity } from '@millrace/protocol'
import { fileLine, placeOf, type CheckReport, type Finding } from './check-report.ts'

const COMMANDS: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'notice' }

export function toGithub(report: CheckReport): string {
  return report.diagnostics.map((finding) => `${command(report, finding)}\n`).join('')
}

function command(report: CheckReport, finding: Finding): string {
  const line = fileLine(report, finding)
  const properties = [
    ...(report.file === undefined ? [] : [`file=${property(report.file)}`]),
    ...(report.file === undefined || line === undefined ? [] : [`line=${line}`]),
    `title=${property(`millrace: ${finding.rule}`)}`,
  ]
  return `::${COMMANDS[finding.severity]} ${properties.join(',')}::${data(`${finding.message} (${placeOf(finding)})`)}`
}

// The escapes of the runner's own command writer: a message must not end its command and begin another.
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
