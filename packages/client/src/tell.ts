/** Calls a hook of the application. What it throws is the application's to see, and ends no stream. */
export function tell<Args extends readonly unknown[]>(hook: ((...args: Args) => void) | undefined, ...args: Args): void {
  try {
    hook?.(...args)
  } catch (error) {
    // The runtime is told, as of any listener that throws.
    queueMicrotask(() => {
      throw error
    })
  }
}
