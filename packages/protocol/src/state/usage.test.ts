/** Sums of usage: per model and overall, absent is not zero, and in which cases a sum is only a lower bound. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ThreadReader, usageTotals, type TokenUsage, type UsageTotals } from '../index.ts'

const runs = (...usages: (TokenUsage[] | undefined)[]): { usage?: TokenUsage[] }[] => usages.map((usage) => (usage === undefined ? {} : { usage }))

describe('usageTotals', () => {
  it.each<[string, (TokenUsage[] | undefined)[], Partial<UsageTotals>]>([
    ['no runs', [], { models: [], overall: { entries: 0, partial: [] }, reported: 0, unreported: 0 }],
    ['a run that reports nothing is no run that used nothing', [undefined, []], { models: [], overall: { entries: 0, partial: [] }, reported: 1, unreported: 1 }],
    [
      'one model in two runs',
      [[{ provider: 'p', model: 'm', inputTokens: 10, outputTokens: 2, totalTokens: 12 }], [{ provider: 'p', model: 'm', inputTokens: 20, outputTokens: 3, totalTokens: 23 }]],
      { models: [{ provider: 'p', model: 'm', inputTokens: 30, outputTokens: 5, totalTokens: 35, entries: 2, partial: [] }], reported: 2 },
    ],
    [
      'models in the order in which they come; a missing name is another than an empty one',
      [[{ model: 'b', inputTokens: 1 }, { model: 'a', inputTokens: 2 }], [{ provider: '', model: 'b', inputTokens: 3 }, { inputTokens: 4 }, { model: 'b', inputTokens: 5 }]],
      {
        models: [
          { model: 'b', inputTokens: 6, entries: 2, partial: [] },
          { model: 'a', inputTokens: 2, entries: 1, partial: [] },
          { provider: '', model: 'b', inputTokens: 3, entries: 1, partial: [] },
          { inputTokens: 4, entries: 1, partial: [] },
        ],
        overall: { inputTokens: 15, entries: 5, partial: [] },
      },
    ],
    [
      'a count that some leave out is a lower bound; zero is a count',
      [[{ inputTokens: 5, cachedInputTokens: 0 }, { inputTokens: 7 }]],
      { overall: { inputTokens: 12, cachedInputTokens: 0, entries: 2, partial: ['cachedInputTokens'] } },
    ],
    [
      'a total that is not stated follows from input and output, and only from both',
      [[{ inputTokens: 5, outputTokens: 1, reasoningTokens: 1 }, { totalTokens: 10 }]],
      { overall: { inputTokens: 5, outputTokens: 1, totalTokens: 16, reasoningTokens: 1, entries: 2, partial: ['inputTokens', 'outputTokens', 'reasoningTokens'] } },
    ],
    ['input alone makes no total', [[{ inputTokens: 5 }]], { overall: { inputTokens: 5, entries: 1, partial: [] } }],
    ['a total that is stated is taken as it is', [[{ inputTokens: 5, outputTokens: 1, totalTokens: 7 }]], { overall: { inputTokens: 5, outputTokens: 1, totalTokens: 7, entries: 1, partial: [] } }],
  ])('%s', (_, usages, wanted) => {
    expect(usageTotals(runs(...usages))).toMatchObject(wanted)
    for (const key of ['models', 'overall'] as const) if (wanted[key] !== undefined) expect(usageTotals(runs(...usages))[key]).toEqual(wanted[key])
  })

  it('reads the runs of a thread, failed ones included', () => {
    const reader = new ThreadReader()
    const entry = { provider: 'p', model: 'm', inputTokens: 1, outputTokens: 1 }
    for (const event of [
      { type: 'RUN_STARTED', threadId: 't', runId: '1' },
      { type: 'RUN_FINISHED', threadId: 't', runId: '1', usage: [entry] },
      { type: 'RUN_STARTED', threadId: 't', runId: '2' },
      { type: 'RUN_ERROR', message: 'boom', usage: [entry] },
      { type: 'RUN_STARTED', threadId: 't', runId: '3' },
    ]) reader.accept(event)
    const totals = usageTotals(reader.snapshot().runs)
    expect(totals).toEqual({ models: [{ ...entry, inputTokens: 2, outputTokens: 2, totalTokens: 4, entries: 2, partial: [] }], overall: { inputTokens: 2, outputTokens: 2, totalTokens: 4, entries: 2, partial: [] }, reported: 2, unreported: 1 })
  })

  it('does not depend on how entries are spread over runs, and the models add up to the whole', () => {
    const count = fc.nat(1_000)
    const name = fc.constantFrom('', 'a', 'b')
    const entry = fc.record({ provider: name, model: name, inputTokens: count, outputTokens: count, totalTokens: count, reasoningTokens: count, cachedInputTokens: count, cacheWriteInputTokens: count }, { requiredKeys: [] }) as fc.Arbitrary<TokenUsage>
    fc.assert(
      fc.property(fc.array(fc.array(entry, { maxLength: 3 }), { maxLength: 5 }), (usages) => {
        const { models, overall } = usageTotals(runs(...usages))
        const whole = usageTotals(runs(usages.flat()))
        expect([whole.models, whole.overall]).toEqual([models, overall])
        for (const key of ['inputTokens', 'outputTokens', 'totalTokens', 'reasoningTokens'] as const) {
          const stated = models.flatMap((model) => model[key] ?? [])
          expect(overall[key]).toBe(stated.length === 0 ? undefined : stated.reduce((a, b) => a + b))
        }
        expect(models.reduce((total, { entries }) => total + entries, 0)).toBe(usages.flat().length)
      }),
    )
  })
})
