/** Counts what is left behind: timers that may still fire and listeners on abort signals. Runs in browsers too. */

export interface LeakProbe {
  /** Timers of ours that are pending, and listeners of anyone on `signals`, of those made since the probe began. */
  left(signals: readonly AbortSignal[]): { readonly timers: number; readonly listeners: number }
  /** Puts everything back. */
  restore(): void
}

export function probeLeaks(): LeakProbe {
  const timers = new Set<unknown>()
  const { setTimeout: setT, clearTimeout: clearT, setInterval: setI, clearInterval: clearI } = globalThis
  // Servers of a test run in the same process, and platforms have timers of their own: only our sources count.
  const ours = (): boolean => /packages\/client\/(src|dist)\//.test(new Error().stack?.split('\n')[3] ?? '')

  const global = globalThis as unknown as Record<string, unknown>
  global['setTimeout'] = (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const handle: unknown = setT(
      (...given: unknown[]) => {
        timers.delete(handle)
        callback(...given)
      },
      ms,
      ...args,
    )
    if (ours()) timers.add(handle)
    return handle
  }
  global['clearTimeout'] = (handle: never) => {
    timers.delete(handle)
    clearT(handle)
  }
  global['setInterval'] = (callback: never, ms?: number, ...args: never[]) => {
    const handle: unknown = setI(callback, ms, ...args)
    if (ours()) timers.add(handle)
    return handle
  }
  global['clearInterval'] = (handle: never) => {
    timers.delete(handle)
    clearI(handle)
  }

  const listeners = new Map<AbortSignal, Set<unknown>>()
  const proto = EventTarget.prototype
  const { addEventListener, removeEventListener } = proto
  proto.addEventListener = function (this: EventTarget, type: string, listener: never, options?: never) {
    if (this instanceof AbortSignal && type === 'abort' && !this.aborted) {
      const known = listeners.get(this) ?? new Set()
      listeners.set(this, known.add(listener))
    }
    addEventListener.call(this, type, listener, options)
  }
  proto.removeEventListener = function (this: EventTarget, type: string, listener: never, options?: never) {
    if (this instanceof AbortSignal) listeners.get(this)?.delete(listener)
    removeEventListener.call(this, type, listener, options)
  }

  return {
    left: (signals) => ({
      timers: timers.size,
      // A signal that has aborted lets go of its listeners by itself.
      listeners: signals.reduce((sum, signal) => sum + (signal.aborted ? 0 : (listeners.get(signal)?.size ?? 0)), 0),
    }),
    restore() {
      Object.assign(globalThis, { setTimeout: setT, clearTimeout: clearT, setInterval: setI, clearInterval: clearI })
      Object.assign(proto, { addEventListener, removeEventListener })
    },
  }
}
