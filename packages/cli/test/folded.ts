// What `fold --json` prints, its shape and exit status verified.
import { expect } from 'vitest'
import type { Result } from './bin.ts'

export interface Folded {
  outcome: string
  at: number | null
  error: { message: string; code?: string; rule?: string; event?: number; line?: number } | null
  messages: { id: string; role: string }[]
  state: unknown
  ui: { id: string; role: string; parts: { type: string }[] }[]
  runs: { runId?: string; outcome: string; pendingToolCallIds?: string[] }[]
  interrupts: { id: string }[]
  diagnostics: { rule: string; severity: string; event: number | null }[]
}

const GOOD = ['finished', 'interrupted', 'cancelled']
const REJECTED = ['violation', 'malformed']

/** The report of a command that worked. */
export function parseFolded({ status, out, err }: Result): Folded {
  expect(err).toBe('')
  const report = JSON.parse(out) as Folded
  expect(Object.keys(report)).toEqual(['outcome', 'at', 'error', 'messages', 'state', 'ui', 'runs', 'interrupts', 'diagnostics'])
  const { outcome, at, error, messages, ui, diagnostics } = report
  expect([...GOOD, ...REJECTED, 'error', 'truncated']).toContain(outcome)
  if (REJECTED.includes(outcome)) {
    expect(at).toBeTypeOf('number')
    expect(error).toMatchObject({ message: expect.any(String) as string, rule: expect.any(String) as string, event: at })
    expect(diagnostics.some(({ severity, event }) => severity === 'error' && event === at)).toBe(true)
  }
  if (outcome === 'error') expect([typeof at, typeof error?.message]).toEqual(['number', 'string'])
  if (GOOD.includes(outcome)) expect([at, error]).toEqual([null, null])
  for (const message of messages) expect([typeof message.id, typeof message.role]).toEqual(['string', 'string'])
  for (const message of ui) expect([typeof message.id, Array.isArray(message.parts)]).toEqual(['string', true])
  const clean = GOOD.includes(outcome) && !diagnostics.some(({ severity }) => severity === 'error')
  expect(status).toBe(clean ? 0 : 1)
  return report
}
