/** What reads more than strict 1.0 is handed in; without it the same pipeline does not know it. */
import { expect, it } from 'vitest'
import { compatible, EventVerifier, reportMode, requireMode, ThreadReader, UsageError, verifyEvents, type RuleId, type ThreadReaderOptions } from '../index.ts'

const started = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const old = [started, { type: 'THINKING_START' }, { type: 'THINKING_END' }, { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }]

function rulesOf(options: ThreadReaderOptions): RuleId[] {
  const rules: RuleId[] = []
  const reader = new ThreadReader({ ...options, onDiagnostic: ({ rule }) => rules.push(rule) })
  for (const event of old) reader.accept(event)
  return rules
}

it('old spellings are unknown events to a reader that was not given them', () => {
  expect(rulesOf({})).toEqual(['event.unknown-type', 'event.unknown-type'])
  expect(rulesOf(compatible())).toEqual(['event.retired-shape', 'event.retired-shape'])
})

it('the operator reads them, and knows modes by name', async () => {
  const types: string[] = []
  for await (const { type } of verifyEvents([...old, ...old.slice(1)], { mode: 'report' })) types.push(type)
  expect(types).toContain('REASONING_START')
  expect(types.filter((type) => type === 'RUN_FINISHED')).toHaveLength(2)
})

it('a reader takes strict reading by name, and every other mode as a value', () => {
  for (const Reader of [EventVerifier, ThreadReader]) {
    expect(() => new Reader({ mode: 'strict' })).not.toThrow()
    expect(() => new Reader({ mode: reportMode })).not.toThrow()
    for (const mode of ['report', 'tolerant', null, 'any']) {
      expect(() => new Reader({ mode: mode as never })).toThrow(expect.objectContaining({ code: 'bad-mode' }))
    }
  }
})

it('the preset takes names alone', () => {
  expect(compatible('report').mode).toBe(reportMode)
  for (const mode of ['any', 'constructor', reportMode]) {
    expect(() => compatible(mode as never)).toThrow(UsageError)
    expect(() => requireMode(mode)).toThrow(UsageError)
  }
})
