/** Channels and locks between the tabs of a test: what one posts, the others are given in a later turn of the event loop. */
import type { LockManagerLike, TabChannel } from '@millrace/client'

export class FakeTabs {
  readonly open = new Set<TabChannel & { readonly name: string }>()
  readonly held = new Set<string>()
  posted = 0
  readonly #later: (deliver: () => void) => void

  /** @param later when what was posted is given to the others. */
  constructor(later: (deliver: () => void) => void = (deliver) => void setTimeout(deliver, 0)) {
    this.#later = later
  }

  readonly channel = (name: string): TabChannel => {
    const me: TabChannel & { readonly name: string } = {
      name,
      onmessage: null,
      postMessage: (message) => {
        this.posted++
        const data: unknown = structuredClone(message)
        for (const other of this.open) {
          if (other === me || other.name !== name) continue
          this.#later(() => {
            if (this.open.has(other)) other.onmessage?.({ data })
          })
        }
      },
      close: () => void this.open.delete(me),
    }
    this.open.add(me)
    return me
  }

  /** Of one tab: `gone()` gives its locks back, as a browser does when the tab is closed. */
  locks(): LockManagerLike & { gone(): void } {
    const mine = new Set<string>()
    return {
      request: async (name, _, callback) => {
        await Promise.resolve()
        if (this.held.has(name)) return callback(null)
        this.held.add(name)
        mine.add(name)
        try {
          return await callback({ name })
        } finally {
          if (mine.delete(name)) this.held.delete(name)
        }
      },
      gone: () => {
        for (const name of mine) this.held.delete(name)
        mine.clear()
      },
    }
  }
}
