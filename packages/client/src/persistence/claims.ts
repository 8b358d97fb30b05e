/** Names that one tab alone can hold: by Web Locks, or by agreement over a channel. What they stand for is not known here. */
import type { Clock } from '../clock.ts'

export interface Claims {
  /** True if the name is ours now, or was already; false if another tab has it. Asked again, it may be free. */
  claim(name: string): Promise<boolean>
  /** Lets go of these names. */
  release(which: (name: string) => boolean): void
  close(): void
  /** What another tab said, for claims by agreement: that it wants a name, or that we cannot have one. */
  heard?(kind: 'claim' | 'held', name: string, tab: string): void
}

/** What is used of `navigator.locks`. */
export interface LockManagerLike {
  request(name: string, options: { readonly ifAvailable: true }, callback: (lock: unknown) => Promise<void> | undefined): Promise<unknown>
}

/** The browser gives a tab's locks back when it goes, however it goes. */
export function lockClaims(locks: LockManagerLike, prefix: string): Claims {
  const asked = new Map<string, Promise<boolean>>()
  const held = new Map<string, () => void>()
  const request = (name: string): Promise<boolean> =>
    new Promise((resolve) => {
      const refused = (): void => {
        asked.delete(name)
        resolve(false)
      }
      const asking = async (): Promise<unknown> =>
        locks.request(prefix + name, { ifAvailable: true }, (lock) => {
          // Given up while it was asked for.
          if (lock === null || !asked.has(name)) return void refused()
          resolve(true)
          return new Promise<void>((release) => {
            held.set(name, release)
          })
        })
      // Where locks are forbidden, tabs cannot speak to each other either.
      asking().catch(() => resolve(true))
    })
  const release = (which: (name: string) => boolean): void => {
    for (const name of [...asked.keys()].filter(which)) {
      asked.delete(name)
      held.get(name)?.()
      held.delete(name)
    }
  }
  return {
    claim(name) {
      const known = asked.get(name)
      if (known !== undefined) return known
      // Noted before it is asked for: an answer may come at once.
      let answer: (mine: boolean | Promise<boolean>) => void = () => {}
      const asking = new Promise<boolean>((resolve) => {
        answer = resolve
      })
      asked.set(name, asking)
      answer(request(name))
      return asking
    },
    release,
    close: () => release(() => true),
  }
}

export interface ChannelClaimsOptions {
  readonly id: string
  post(message: object): void
  readonly clock: Clock
  readonly claimMs: number
}

/**
 * Who claims asks the others and waits; who has the name objects. Who has heard another ask waits for that to be over before it
 * asks; of two who ask at the same time, the lower id has it.
 */
export function channelClaims({ id, post, clock, claimMs }: ChannelClaimsOptions): Claims {
  const held = new Set<string>()
  /** Until when another one's question counts. */
  const heardOf = new Map<string, number>()
  const asking = new Map<string, { readonly answer: Promise<boolean>; asked: boolean; settle(mine: boolean): void }>()
  const ask = (name: string, waitMs: number): Promise<boolean> => {
    let settle: (mine: boolean) => void = () => {}
    let cancel: () => void = () => {}
    const answer = new Promise<boolean>((resolve) => {
      settle = (mine) => {
        cancel()
        asking.delete(name)
        if (mine) held.add(name)
        resolve(mine)
      }
    })
    const pending = { answer, asked: false, settle }
    asking.set(name, pending)
    const begin = (): void => {
      pending.asked = true
      cancel = clock.after(claimMs, () => settle(true))
      post({ kind: 'claim', name })
    }
    if (waitMs > 0) cancel = clock.after(waitMs, begin)
    else begin()
    return answer
  }
  const release = (which: (name: string) => boolean): void => {
    for (const name of held) if (which(name)) held.delete(name)
    for (const [name, { settle }] of asking) if (which(name)) settle(false)
  }
  return {
    async claim(name) {
      if (held.has(name)) return true
      return asking.get(name)?.answer ?? ask(name, (heardOf.get(name) ?? 0) - clock.now())
    },
    release,
    close: () => release(() => true),
    heard(kind, name, tab) {
      const pending = asking.get(name)
      if (kind === 'held') pending?.settle(false)
      else if (held.has(name) || (pending?.asked === true && id < tab)) post({ kind: 'held', name, to: tab })
      else {
        if (pending?.asked === true) pending.settle(false)
        const now = clock.now()
        for (const [old, until] of heardOf) if (until <= now) heardOf.delete(old)
        heardOf.set(name, now + claimMs)
      }
    },
  }
}
