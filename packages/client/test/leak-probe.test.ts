import { expect, it } from 'vitest'
import { systemClock } from '../src/clock.ts'
import { probeLeaks } from './leak-probe.ts'

it('counts timers of our sources until they fire or are cancelled, and listeners until they are taken off', async () => {
  const probe = probeLeaks()
  try {
    const { signal } = new AbortController()
    const left = (): object => probe.left([signal])
    setTimeout(() => {}, 0)
    expect(left()).toEqual({ timers: 0, listeners: 0 })
    const cancel = systemClock.after(1000, () => {})
    const fired = new Promise<void>((resolve) => void systemClock.after(0, resolve))
    const listener = (): void => {}
    signal.addEventListener('abort', listener)
    expect(left()).toEqual({ timers: 2, listeners: 1 })
    await fired
    cancel()
    signal.removeEventListener('abort', listener)
    expect(left()).toEqual({ timers: 0, listeners: 0 })
  } finally {
    probe.restore()
  }
})
