import { afterEach, expect, it, vi } from 'vitest'
import { browserEnvironment } from './environment.ts'

afterEach(() => vi.unstubAllGlobals())

/** Listeners by type. */
function target() {
  const listeners = new Map<string, Set<() => void>>()
  return {
    addEventListener: (type: string, listener: () => void) => void (listeners.get(type) ?? listeners.set(type, new Set()).get(type))?.add(listener),
    removeEventListener: (type: string, listener: () => void) => void listeners.get(type)?.delete(listener),
    fire: (type: string) => listeners.get(type)?.forEach((listener) => listener()),
    count: () => [...listeners.values()].reduce((sum, { size }) => sum + size, 0),
  }
}

it('there is none outside of browsers', () => {
  expect(browserEnvironment()).toBeUndefined()
  // React Native has a navigator that knows nothing of the network, and no events.
  vi.stubGlobal('navigator', { product: 'ReactNative' })
  expect(browserEnvironment()).toBeUndefined()
  vi.stubGlobal('navigator', { onLine: true })
  expect(browserEnvironment()).toBeUndefined()
})

it('calls back when the network or the user comes back, and leaves no listener', () => {
  const navigator = { onLine: false }
  const document = { ...target(), visibilityState: 'hidden' }
  const global = target()
  vi.stubGlobal('navigator', navigator)
  vi.stubGlobal('document', document)
  vi.stubGlobal('addEventListener', global.addEventListener)
  vi.stubGlobal('removeEventListener', global.removeEventListener)
  const environment = browserEnvironment()
  expect([environment?.online(), environment?.hidden()]).toEqual([false, true])
  let calls = 0
  const unwatch = environment?.watch(() => calls++)
  document.fire('visibilitychange')
  expect(calls).toBe(0)
  document.visibilityState = 'visible'
  document.fire('visibilitychange')
  navigator.onLine = true
  global.fire('online')
  expect(calls).toBe(2)
  expect([environment?.online(), environment?.hidden()]).toEqual([true, false])
  unwatch?.()
  expect([global.count(), document.count()]).toEqual([0, 0])
})

it('in a worker there is no page to be hidden', () => {
  const global = target()
  vi.stubGlobal('navigator', { onLine: true })
  vi.stubGlobal('addEventListener', global.addEventListener)
  vi.stubGlobal('removeEventListener', global.removeEventListener)
  expect(browserEnvironment()?.hidden()).toBe(false)
})
