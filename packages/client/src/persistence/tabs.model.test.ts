/**
 * Tabs of one thread against what is to be true of them: whatever is done in which of them, all show the same in the end; what was
 * said is said once, a tool runs once, a question is answered once, and the thread outlives every tab.
 */
import fc from 'fast-check'
import { it } from 'vitest'
import type { Agreement, Mode } from '../../test/model-tabs.ts'
import { command } from '../../test/tabs-commands.ts'
import { TabsPlay, turns } from '../../test/tabs-play.ts'
import { checkAtRest } from '../../test/tabs-rules.ts'

/** More in CI. */
const RUNS = Number(process.env['MILLRACE_MODEL_RUNS'] ?? 1_000)

it.each<[Agreement, Mode]>([
  ['locks', 'client'],
  ['channel', 'client'],
  ['locks', 'server'],
  ['channel', 'server'],
])(`tabs that agree by %s over a thread of the %s, ${RUNS / 4} sequences`, { timeout: 600_000 }, async (agreement, mode) => {
  await fc.assert(
    fc.asyncProperty(fc.array(command(agreement, mode), { maxLength: 25, size: 'max' }), async (commands) => {
      const play = new TabsPlay(agreement, mode)
      play.open()
      play.open()
      await turns(4)
      for (const one of commands) {
        await play.do(one)
        // Tabs without locks agree by what they tell each other: it has to arrive.
        await turns(agreement === 'locks' ? 1 : 4)
      }
      await checkAtRest(play)
    }),
    { numRuns: RUNS / 4 },
  )
})
