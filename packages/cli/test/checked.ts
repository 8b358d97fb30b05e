// What `check --json` prints, its shape and exit status verified.
import { expect } from 'vitest'
import type { Result } from './bin.ts'

export interface Checked {
  format: string
  events: number
  runs: { threadId?: string; runId?: string; outcome: string }[]
  diagnostics: { rule: string; severity: string; message: string; event: number | null; line?: number; type?: string; pointer?: string; related?: number }[]
  summary: { errors: number; warnings: number; infos: number }
}

/** The report of a command that worked. */
export function parseChecked({ status, out, err }: Result): Checked {
  expect(err).toBe('')
  const report = JSON.parse(out) as Checked
  expect(Object.keys(report)).toEqual(['format', 'events', 'runs', 'diagnostics', 'summary'])
  expect(['sse', 'ndjson', 'json', 'har', 'protobuf', 'recording']).toContain(report.format)
  for (const run of report.runs) {
    expect(['finished', 'error', 'interrupted', 'cancelled', 'truncated', 'violation', 'malformed']).toContain(run.outcome)
  }
  const counts = { error: 0, warning: 0, info: 0 }
  for (const { rule, severity, message, event, line, related } of report.diagnostics) {
    expect(rule).toMatch(/^[a-z]+\.[a-z-]+$/)
    expect(message).not.toBe('')
    counts[severity as keyof typeof counts] += 1
    if (event !== null) expect(event).toBeLessThan(report.events)
    if (line !== undefined) expect(line).toBeGreaterThan(0)
    if (related !== undefined) expect(related).toBeLessThan(event ?? report.events)
  }
  expect(report.summary).toEqual({ errors: counts.error, warnings: counts.warning, infos: counts.info })
  expect(status).toBe(counts.error > 0 ? 1 : 0)
  return report
}

/** What was found without what is only a matter of style. */
export function findings({ diagnostics }: Checked): Checked['diagnostics'] {
  return diagnostics.filter(({ rule }) => !rule.startsWith('hygiene.'))
}
