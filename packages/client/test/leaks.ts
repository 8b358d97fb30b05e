/** Counts what is left behind. */

/** A signal that knows how many listen to it. */
export function countingSignal(): { readonly signal: AbortSignal; abort(): void; listening(): number } {
  const controller = new AbortController()
  const { signal } = controller
  const listeners = new Set<unknown>()
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (type: string, listener: any, options?: any) => {
    listeners.add(listener)
    add(type, listener, options)
  }
  signal.removeEventListener = (type: string, listener: any) => {
    listeners.delete(listener)
    remove(type, listener)
  }
  return {
    signal,
    abort: () => controller.abort(),
    listening: () => listeners.size,
  }
}
