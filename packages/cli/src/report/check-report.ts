// What `check` found, as data: every output format is drawn from this.
import type { Diagnostic, RunOutcome, Severity } from '@millrace/protocol'
import type { Format } from '../input/detect.ts'

export interface Finding extends Diagnostic {
  /** Which stream of the input it is about, where there are several (HAR). */
  readonly stream?: string
}

export interface CheckedRun {
  readonly threadId?: string
  readonly runId?: string
  readonly outcome: RunOutcome
  /** What the agent said of its failure. */
  readonly error?: string
}

export interface CheckReport {
  /** What was checked, for people. */
  readonly name: string
  /** Its path, if it is a file. */
  readonly file?: string
  readonly format: Format
  /** Events that came, malformed ones included. */
  readonly events: number
  readonly runs: readonly CheckedRun[]
  /** In the order of the stream. */
  readonly diagnostics: readonly Finding[]
  /** Counts all findings, also those that are too many to be kept. */
  readonly summary: Readonly<Record<'errors' | 'warnings' | 'infos', number>>
}

/** Findings counted but not kept. */
export function omitted(report: CheckReport): number {
  const { errors, warnings, infos } = report.summary
  return errors + warnings + infos - report.diagnostics.length
}

/** Line of a finding in the file itself. What a capture embeds has lines of its own, which lead nowhere there. */
export function fileLine(report: CheckReport, finding: Finding): number | undefined {
  return report.format === 'har' ? undefined : finding.line
}

/** `event 3 TEXT_MESSAGE_CONTENT /messageId`: where a finding is, as far as known. */
export function placeOf(finding: Finding): string {
  return [
    finding.stream,
    finding.event === null ? 'stream' : `event ${finding.event}`,
    finding.type,
    finding.pointer,
    finding.related === undefined ? undefined : `(see event ${finding.related})`,
  ]
    .filter((part) => part !== undefined && part !== '')
    .join(' ')
}

export const SEVERITIES: readonly Severity[] = ['error', 'warning', 'info']
