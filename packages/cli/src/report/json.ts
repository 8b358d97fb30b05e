// The report as one JSON object: the contract that scripts rely on.
import type { CheckReport } from './check-report.ts'

export function toJson(report: CheckReport): string {
  const { format, events, diagnostics, summary } = report
  const runs = report.runs.map(({ error: _error, ...run }) => run)
  return `${JSON.stringify({ format, events, runs, diagnostics, summary }, null, 2)}\n`
}
