// `--rule ID=SEVERITY`: the user's own view of how bad a finding is. Knows nothing of streams.
import { RULES, type Diagnostic, type RuleId, type Severity } from '@millrace/protocol'
import leven from 'leven'
import { CommandError } from './command-error.ts'

const LEVELS: ReadonlySet<string> = new Set(['error', 'warning', 'info', 'off'])

export type RuleLevels = ReadonlyMap<RuleId, Severity | 'off'>

/**
 * Reads `ID=SEVERITY` settings; the last one for a rule counts.
 * @throws CommandError for a rule or severity that does not exist.
 */
export function parseRules(settings: readonly string[]): RuleLevels {
  return new Map(
    settings.map((setting) => {
      const at = setting.indexOf('=')
      const id = at === -1 ? setting : setting.slice(0, at)
      const level = at === -1 ? '' : setting.slice(at + 1)
      if (!Object.hasOwn(RULES, id)) {
        const near = nearest(id, Object.keys(RULES))
        throw new CommandError(`--rule ${setting}: there is no rule ${id}`, near && `Did you mean ${near}?`)
      }
      if (!LEVELS.has(level)) {
        throw new CommandError(`--rule ${setting}: “${level}” is no severity`, `Write ${id}=error, warning, info or off.`)
      }
      return [id as RuleId, level as Severity | 'off']
    }),
  )
}

/** The finding as the user sees it, or `undefined` if its rule is off. */
export function withLevel<D extends Diagnostic>(diagnostic: D, levels: RuleLevels): D | undefined {
  const level = levels.get(diagnostic.rule)
  if (level === undefined || level === diagnostic.severity) return diagnostic
  return level === 'off' ? undefined : { ...diagnostic, severity: level }
}

/** The candidate that is most like `word`, if any is like it. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const best = candidates
    .map((candidate) => ({ candidate, distance: distance(word, candidate) }))
    .sort((a, b) => a.distance - b.distance)[0]
  return best !== undefined && best.distance <= Math.max(2, word.length * 0.4) ? best.candidate : undefined
}

/** Edits between two words; one that is a whole part of the other counts as near. */
function distance(word: string, candidate: string): number {
  const contained = word.length > 2 && candidate.split('.').includes(word)
  return contained ? 1 : leven(word.toLowerCase(), candidate.toLowerCase())
}
