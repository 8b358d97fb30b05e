/**
 * A chat against a model of it: whatever is done in whatever order, and however often its connection breaks, it shows what it should,
 * asks for each run once, and everything settles.
 */
import fc from 'fast-check'
import { it } from 'vitest'
import { command, options } from '../../test/chat-commands.ts'
import { Play } from '../../test/chat-play.ts'

/** More in CI. */
const RUNS = Number(process.env['MILLRACE_MODEL_RUNS'] ?? 1_000)

it(`shows what it should, ${RUNS} sequences`, { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(options, fc.array(command, { maxLength: 30, size: 'max' }), async (given, commands) => {
      const play = new Play(given)
      for (const one of commands) await play.do(one)
      await play.end()
    }),
    { numRuns: RUNS },
  )
})
