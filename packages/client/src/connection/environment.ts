/** What the platform knows about whether a reconnection makes sense. Only this file touches `navigator` and `document`. */

export interface ConnectionEnvironment {
  /** false while the device knows that it has no network. */
  online(): boolean
  /** Nobody can see the page. */
  hidden(): boolean
  /** Calls back when the network, or the user, has come back. Returns what takes the listeners off. */
  watch(callback: () => void): () => void
}

interface Platform {
  readonly navigator?: { readonly onLine?: unknown }
  readonly document?: {
    readonly visibilityState?: unknown
    addEventListener?(type: string, listener: () => void): void
    removeEventListener?(type: string, listener: () => void): void
  }
  addEventListener?(type: string, listener: () => void): void
  removeEventListener?(type: string, listener: () => void): void
}

/** That of browsers and their workers; undefined elsewhere (Node, React Native), where nothing can be asked. */
export function browserEnvironment(): ConnectionEnvironment | undefined {
  const platform = globalThis as Platform
  const { navigator, document } = platform
  if (typeof navigator?.onLine !== 'boolean' || typeof platform.addEventListener !== 'function') return undefined
  return {
    online: () => navigator.onLine !== false,
    hidden: () => document?.visibilityState === 'hidden',
    watch(callback) {
      const onVisibility = (): void => {
        if (document?.visibilityState !== 'hidden') callback()
      }
      platform.addEventListener?.('online', callback)
      document?.addEventListener?.('visibilitychange', onVisibility)
      return () => {
        platform.removeEventListener?.('online', callback)
        document?.removeEventListener?.('visibilitychange', onVisibility)
      }
    },
  }
}
