import { afterEach, describe, expect, it, vi } from 'vitest'
import { macrotask, Slicer, type Macrotask } from './scheduler.ts'
import { linkSignals } from './signals.ts'

describe('macrotask', () => {
  afterEach(() => vi.unstubAllGlobals())
  const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20))

  it.each([
    ['immediates', () => {}],
    ['messages', () => vi.stubGlobal('setImmediate', undefined)],
    [
      'timers',
      () => {
        vi.stubGlobal('setImmediate', undefined)
        vi.stubGlobal('MessageChannel', undefined)
      },
    ],
  ])('runs after all microtasks, in order, unless taken back: %s', async (_, prepare) => {
    prepare()
    const seen: string[] = []
    macrotask(() => seen.push('first'))
    const cancel = macrotask(() => seen.push('never'))
    macrotask(() => seen.push('second'))
    cancel()
    for (let n = 0; n < 10; n++) await Promise.resolve()
    expect(seen).toEqual([])
    await turn()
    expect(seen).toEqual(['first', 'second'])
  })
})

describe('Slicer', () => {
  function setUp() {
    let now = 0
    let pending: (() => void) | undefined
    let scheduled = 0
    const schedule: Macrotask = (callback) => {
      scheduled++
      pending = callback
      return () => {
        pending = undefined
      }
    }
    const slicer = new Slicer(() => now, schedule)
    return {
      slicer,
      work: (ms: number) => (now += ms),
      turn: () => {
        const run = pending
        pending = undefined
        run?.()
      },
      scheduled: () => scheduled,
      waiting: () => pending !== undefined,
    }
  }

  it('lets a burst work for 8 ms, then waits for the event loop once', async () => {
    const { slicer, work, turn, scheduled } = setUp()
    for (let ms = 0; ms < 8; ms++) {
      expect(slicer.pause()).toBeUndefined()
      work(1)
    }
    const pause = slicer.pause()
    expect(pause).toBeInstanceOf(Promise)
    turn()
    await pause
    expect(slicer.pause()).toBeUndefined()
    expect(scheduled()).toBe(2)
  })

  it('never makes a slow stream wait', () => {
    const { slicer, work, turn } = setUp()
    for (let event = 0; event < 100; event++) {
      expect(slicer.pause()).toBeUndefined()
      work(20)
      turn()
    }
  })

  it('leaves nothing scheduled and nobody waiting after stop', async () => {
    const { slicer, work, waiting } = setUp()
    slicer.pause()
    work(9)
    const pause = slicer.pause()
    slicer.stop()
    await pause
    expect(waiting()).toBe(false)
  })
})

describe('linkSignals', () => {
  it('follows a single signal without giving it away; gives none for none', () => {
    const controller = new AbortController()
    const linked = linkSignals(undefined, controller.signal, null).signal
    expect(linked).not.toBe(controller.signal)
    controller.abort('why')
    expect(linked?.reason).toBe('why')
    expect(linkSignals(undefined).signal).toBeUndefined()
  })

  it('aborts with the first of several, with its reason; also with one that was aborted before', () => {
    const a = new AbortController()
    const b = new AbortController()
    const { signal } = linkSignals(a.signal, b.signal)
    expect(signal?.aborted).toBe(false)
    b.abort('why')
    expect(signal?.reason).toBe('why')
    expect(linkSignals(a.signal, AbortSignal.abort('before')).signal?.reason).toBe('before')
  })

  it('does not abort after release', () => {
    const a = new AbortController()
    const linked = linkSignals(a.signal, new AbortController().signal)
    linked.release()
    a.abort()
    expect(linked.signal?.aborted).toBe(false)
  })
})
