/**
 * Sums of the token usage that runs report (AG-UI 1.0, usage accounting). Pure arithmetic on `Run.usage`; it knows no
 * prices and no fold.
 */
import type { TokenUsage } from '../events/event.ts'
import type { Run } from './thread.ts'

/**
 * The six counts of a usage entry, in tokens. `inputTokens` and `outputTokens` are totals; `cachedInputTokens` and
 * `cacheWriteInputTokens` are parts of the input, `reasoningTokens` of the output, and must not be added to them again.
 */
export type UsageCount =
  | 'inputTokens'
  | 'outputTokens'
  | 'totalTokens'
  | 'reasoningTokens'
  | 'cachedInputTokens'
  | 'cacheWriteInputTokens'

/** Usage added up. A count that no entry stated is absent, which is not zero. */
export type UsageSum = { readonly [Count in UsageCount]?: number } & {
  /** How many usage entries were added. */
  readonly entries: number
  /** Counts that some entries stated and others did not: the sum is what is known of them, a lower bound. */
  readonly partial: readonly UsageCount[]
}

/** The sum for one model of one provider; what the entries did not name is absent. */
export type ModelUsage = UsageSum & Pick<TokenUsage, 'provider' | 'model'>

/** What {@link usageTotals} gives. */
export interface UsageTotals {
  /** A sum for each provider and model, in the order in which they first appear. */
  readonly models: readonly ModelUsage[]
  /** The sum over all of them. */
  readonly overall: UsageSum
  /** Runs that reported usage. */
  readonly reported: number
  /** Runs that reported none: what they used is not in the sums. */
  readonly unreported: number
}

const COUNTS: readonly UsageCount[] = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'reasoningTokens',
  'cachedInputTokens',
  'cacheWriteInputTokens',
]

/**
 * Adds up what runs report, by provider and model and overall. A run's entries are its own and its subagents', never
 * those of a child run or of the interrupted run it goes on from (AG-UI 1.0), so runs of one thread add up without
 * counting twice. Where an entry states input and output and no total, the total is their sum, as the protocol defines it.
 * @param runs such as `Thread.runs`; only `usage` is read. Sums above 2^53 − 1 are not exact.
 */
export function usageTotals(runs: readonly Pick<Run, 'usage'>[]): UsageTotals {
  const reporting = runs.flatMap(({ usage }) => (usage === undefined ? [] : [usage]))
  const entries = reporting.flat()
  const models = new Map<string, TokenUsage[]>()
  for (const entry of entries) {
    const group = models.get(keyOf(entry))
    if (group === undefined) models.set(keyOf(entry), [entry])
    else group.push(entry)
  }
  return {
    models: [...models.values()].map((group) => ({ ...named(group[0] as TokenUsage), ...sum(group) })),
    overall: sum(entries),
    reported: reporting.length,
    unreported: runs.length - reporting.length,
  }
}

/** No name and the empty name are two. */
function keyOf({ provider, model }: TokenUsage): string {
  return JSON.stringify([provider ?? null, model ?? null])
}

function named({ provider, model }: TokenUsage): Pick<TokenUsage, 'provider' | 'model'> {
  return { ...(provider !== undefined && { provider }), ...(model !== undefined && { model }) }
}

function sum(entries: readonly TokenUsage[]): UsageSum {
  const counts: { [Count in UsageCount]?: number } = {}
  const partial: UsageCount[] = []
  for (const count of COUNTS) {
    const stated = entries.flatMap((entry) => countOf(entry, count) ?? [])
    if (stated.length === 0) continue
    counts[count] = stated.reduce((total, value) => total + value)
    if (stated.length < entries.length) partial.push(count)
  }
  return { ...counts, entries: entries.length, partial }
}

function countOf(entry: TokenUsage, count: UsageCount): number | undefined {
  const { inputTokens, outputTokens } = entry
  if (entry[count] !== undefined || count !== 'totalTokens') return entry[count]
  return inputTokens === undefined || outputTokens === undefined ? undefined : inputTokens + outputTokens
}
