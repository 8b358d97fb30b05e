/** Joins abort signals without leaving listeners behind. It knows nothing of requests. */

export interface LinkedSignal {
  readonly signal: AbortSignal | undefined
  /** Takes the listeners off; call it when the work is over. */
  release(): void
}

/**
 * A signal that aborts with the first of `signals`, also of one alone: platforms keep their own listeners on a signal
 * they are given, and the caller's may outlive many requests. `AbortSignal.any` does this only in newer runtimes.
 */
export function linkSignals(...signals: readonly (AbortSignal | null | undefined)[]): LinkedSignal {
  const given = signals.filter((signal): signal is AbortSignal => signal != null)
  if (given.length === 0) return { signal: undefined, release: () => {} }
  const controller = new AbortController()
  const listeners = given.map((signal) => ({ signal, listener: () => controller.abort(signal.reason) }))
  for (const { signal, listener } of listeners) {
    if (signal.aborted) controller.abort(signal.reason)
    else signal.addEventListener('abort', listener, { once: true })
  }
  return {
    signal: controller.signal,
    release() {
      for (const { signal, listener } of listeners) signal.removeEventListener('abort', listener)
    },
  }
}
