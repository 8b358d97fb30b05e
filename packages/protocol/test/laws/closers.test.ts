/** What a verifier gives to close what is open is legal to itself, whatever came before. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compatible, EventVerifier } from '../../src/index.ts'
import { anyEvents } from '../arbitraries.ts'

const started = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }

/** The rules that are broken by closing all that a stream left open, and its run. */
function brokenByClosing(events: readonly unknown[]): string[] {
  const broken: string[] = []
  const verifier = new EventVerifier({ ...compatible('report'), onDiagnostic: ({ rule, severity }) => severity === 'error' && broken.push(rule) })
  for (const event of events) verifier.accept(event, () => {})
  broken.length = 0
  if (verifier.running) for (const closer of [...verifier.closers(), { type: 'RUN_FINISHED', ...verifier.run }]) verifier.accept(closer, () => {})
  return broken
}

it('closes what it says is open', () => {
  fc.assert(
    fc.property(anyEvents, (events) => {
      expect(brokenByClosing([started, ...events])).toEqual([])
    }),
    { numRuns: 5_000 },
  )
})

it('closes a span under whom a snapshot gave it to', () => {
  const span = { type: 'REASONING_START', messageId: 'q', subagentRunId: 's2' }
  for (const owner of [{ subagentRunId: 's1' }, {}]) {
    expect(brokenByClosing([started, span, { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'q', role: 'reasoning', content: 'x', ...owner }] }])).toEqual([])
  }
})
