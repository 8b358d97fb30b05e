/**
 * The law of this folder: whatever happens between a send and its end (ticks, crashes, detaching, coming back, a server out of
 * reach), the thread is in the end that of a chat which nothing happened to, and each message was asked once.
 */
import { bigRun, recordedRun, startFaultServer, status, type RunInput } from '@millrace/testkit'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { memoryStorage, type ChatStorage } from '@millrace/client'
import { tick, until } from '../../test/events.ts'
import { openPage, shown, type Page } from '../../test/pages.ts'
import { texts } from '../../test/scripted.ts'

const script = ({ threadId, runId }: RunInput, count: number) => {
  const ids = { threadId, runId, prefix: `${count}-` }
  return count % 2 === 0 ? recordedRun(count % 4 === 0 ? 'mixed' : 'turns', ids) : bigRun(20, ids)
}

async function uninterrupted(sends: number): Promise<unknown> {
  const server = await startFaultServer({ script })
  const { chat } = openPage(memoryStorage(), server.url)
  for (let i = 0; i < sends; i++) await chat.sendMessage(`Message ${i}`)
  await server.close()
  return shown(chat.getSnapshot())
}

type Step =
  | { readonly kind: 'send' | 'crash' | 'leave' | 'unreachable' }
  | { readonly kind: 'events' | 'clock'; readonly count: number }

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('send' as const) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('events' as const), count: fc.integer({ min: 1, max: 40 }) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('clock' as const), count: fc.constantFrom(100, 500, 2000) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('crash' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('unreachable' as const) }) },
  ),
  { maxLength: 25 },
)

/** Answers later, in order. */
const lazily = (disk: ChatStorage): ChatStorage => ({
  load: async (key) => (await tick(), disk.load(key)),
  save: async (key, thread) => (await tick(), disk.save(key, thread)),
  remove: async (key) => (await tick(), disk.remove(key)),
})

it.each(['at once', 'later'])('a thread survives anything (storage answers %s)', async (when) => {
  await fc.assert(
    fc.asyncProperty(steps, async (given) => {
      const server = await startFaultServer({ script, hold: 0 })
      const disk = memoryStorage()
      const storage = when === 'at once' ? disk : lazily(disk)
      let page: Page = openPage(storage, server.url)
      await page.chat.attach()
      let sends = 0
      const busy = (): boolean => page.chat.getSnapshot().status !== 'ready' && page.chat.getSnapshot().status !== 'error'
      const settle = async (): Promise<void> => {
        server.release()
        await until(() => !busy())
        await tick(2)
      }
      for (const step of given) {
        switch (step.kind) {
          case 'send': {
            server.setFaults([])
            if (busy()) await settle()
            // What was left is read to its end before more is said.
            await page.chat.attach()
            const count = server.started.length
            void page.chat.sendMessage(`Message ${sends++}`)
            await server.until(({ started }) => started.length > count)
            await tick(2)
            break
          }
          case 'events':
            server.release(step.count)
            await tick(1)
            break
          case 'clock':
            await page.clock.advance(step.count)
            break
          case 'leave':
            page.chat.detach()
            void page.chat.attach()
            break
          case 'crash':
          case 'unreachable': {
            page.crash()
            server.setFaults(step.kind === 'unreachable' ? [status(503), status(503)] : [])
            page = openPage(storage, server.url)
            void page.chat.attach()
            await tick(when === 'at once' ? 0 : 5)
            break
          }
        }
      }
      server.release()
      server.setFaults([])
      await until(() => !busy())
      for (let tries = 0; tries < 3; tries++) await page.chat.attach()
      const last = openPage(storage, server.url)
      await until(async () => (await disk.load('t1') as { run?: unknown } | undefined)?.run === undefined)
      await last.chat.attach()
      const expected = await uninterrupted(sends)
      expect(server.started.map(({ messages }) => messages?.length)).toHaveLength(sends)
      expect(shown(page.chat.getSnapshot())).toEqual(expected)
      expect(shown(last.chat.getSnapshot())).toEqual(expected)
      expect(texts(last.chat).filter((text) => text.startsWith('Message'))).toHaveLength(sends)
      await server.close()
    }),
    { numRuns: 40 },
  )
}, 120_000)
