/** Everything that is lenient in one preset: old spellings, and the modes by their names. */
import { UsageError } from '../errors.ts'
import { oldSpellings } from '../events/upgrade.ts'
import type { Leniency } from '../verified/leniency.ts'
import { reportMode } from '../verified/report.ts'
import { tolerantMode } from '../verified/tolerance.ts'
import type { VerifyOptions } from './event-verifier.ts'

/**
 * `strict`: the first violation ends the run. `tolerant`: as strict, but the deviations of `TOLERANCES` pass with a
 * warning. `report`: violations are reported and the stream goes on.
 */
export type Mode = 'strict' | 'tolerant' | 'report'

const MODES: Readonly<Record<Mode, 'strict' | Leniency>> = { strict: 'strict', tolerant: tolerantMode, report: reportMode }

/**
 * @param mode as an option gives it; undefined is left to whoever asks.
 * @throws UsageError `bad-mode`.
 */
export function requireMode(mode: unknown): asserts mode is Mode | undefined {
  if (mode === undefined || (typeof mode === 'string' && Object.hasOwn(MODES, mode))) return
  throw new UsageError('bad-mode', `There is no mode "${String(mode)}". Give 'strict', 'tolerant' or 'report'.`)
}

/**
 * The options of a reader that takes what real producers send: those from before 1.0 as well (AG-UI 1.0, compatibility), and
 * violations as the mode says. To be spread among others: `new ThreadReader({ ...compatible('tolerant'), messages })`.
 * @throws UsageError `bad-mode`.
 */
export function compatible(mode: Mode = 'strict'): Required<Pick<VerifyOptions, 'mode' | 'upgrade'>> {
  requireMode(mode)
  return { mode: MODES[mode], upgrade: oldSpellings }
}
