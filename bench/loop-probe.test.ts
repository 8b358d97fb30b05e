/** The event loop is seen when it stands still, and what is asked of it is counted. */
import { afterEach, expect, it } from 'vitest'
import { LoopProbe } from './loop-probe.ts'

let probe: LoopProbe | undefined
afterEach(() => probe?.close())

it('sees how long the loop stood still, also at the very end', async () => {
  probe = new LoopProbe()
  await probe.start()
  for (const until = performance.now() + 40; performance.now() < until; );
  expect((await probe.stop()).blockMs).toBeGreaterThan(35)
})

it('counts timers, immediates and messages of one round, and no microtasks', async () => {
  probe = new LoopProbe()
  setTimeout(() => {}, 0)
  await probe.start()
  const { port1, port2 } = new MessageChannel()
  await new Promise((resolve) => setTimeout(resolve, 0))
  await new Promise((resolve) => setImmediate(resolve))
  port1.postMessage(0)
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
  port2.close()
  expect((await probe.stop()).macrotasks).toBe(3)
})

it('puts back what it counted', () => {
  const { setTimeout: before } = globalThis
  probe = new LoopProbe()
  expect(setTimeout).not.toBe(before)
  probe.close()
  expect(setTimeout).toBe(before)
})
