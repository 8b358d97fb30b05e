import { afterEach, describe, expect, it, vi } from 'vitest'
import { ChatClient, stream } from '@millrace/client'
import { hello, iterate } from '../test/events.ts'
import { macrotask, perFrame, perMs, perTurn, Slicer, type CoalesceStrategy, type Macrotask } from './scheduler.ts'
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

describe('coalescing', () => {
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })
  const microtask = (): Promise<void> => Promise.resolve()

  function counted(strategy: CoalesceStrategy) {
    let runs = 0
    const coalescer = strategy(() => runs++)
    return { coalescer, runs: () => runs }
  }

  it.each<[string, CoalesceStrategy, number]>([
    ['frame', perFrame, 16],
    ['frame, of which there are none', perFrame, 100],
    ['50 ms', perMs(50), 50],
  ])('per %s: at once, then once for all that came before it', async (name, strategy, ms) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    vi.stubGlobal('requestAnimationFrame', name === 'frame' ? (run: () => void) => setTimeout(run, 16) : undefined)
    vi.stubGlobal('cancelAnimationFrame', (handle: NodeJS.Timeout) => clearTimeout(handle))
    const { coalescer, runs } = counted(strategy)
    coalescer.request()
    expect(runs()).toBe(0)
    await microtask()
    expect(runs()).toBe(1)
    for (let n = 0; n < 10; n++) {
      coalescer.request()
      await microtask()
    }
    vi.advanceTimersByTime(ms - 1)
    expect(runs()).toBe(1)
    vi.advanceTimersByTime(1)
    expect(runs()).toBe(2)
    // Nothing was asked since: the next request is served at once again.
    vi.advanceTimersByTime(ms)
    coalescer.request()
    await microtask()
    expect(runs()).toBe(3)
    coalescer.request()
    coalescer.cancel()
    vi.advanceTimersByTime(1000)
    expect(runs()).toBe(3)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is what a chat is told, and what it is told has to be one of these', async () => {
    const connection = stream(() => iterate(hello('r1', 'x'.repeat(200))))
    const told = async (coalesce: 'turn' | 'frame' | number): Promise<number> => {
      const chat = new ChatClient({ connection, coalesce })
      let count = 0
      chat.subscribe(() => count++)
      await chat.sendMessage('Hi')
      return count
    }
    // Begun, the first event, the end: what lies between comes before the frame does.
    expect(await told(10_000)).toBe(3)
    for (const coalesce of ['now', -1, Number.NaN, null]) {
      expect(() => new ChatClient({ connection, coalesce: coalesce as never })).toThrow(expect.objectContaining({ code: 'bad-options' }))
    }
  })

  it('per turn: at once, then once when the event loop has turned', async () => {
    const { coalescer, runs } = counted(perTurn)
    for (let n = 0; n < 10; n++) {
      coalescer.request()
      await microtask()
    }
    expect(runs()).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(runs()).toBe(2)
  })
})
