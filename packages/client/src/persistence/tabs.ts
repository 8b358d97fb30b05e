/**
 * A line between the tabs of one origin: news of what was stored, and claims that one tab alone can have. It knows nothing
 * of chats.
 */
import { checkFields, checkOptions, COUNT, FUNCTION, TEXT } from '../checks.ts'
import type { Clock } from '../clock.ts'
import { systemClock } from '../clock.ts'
import { generateId } from '../ids.ts'
import { channelClaims, lockClaims, type Claims, type LockManagerLike } from './claims.ts'
import { heardFrom, type Heard } from './stored-thread.ts'

/** What is used of a `BroadcastChannel`: what one posts, the others of its name are given. */
export interface TabChannel {
  postMessage(message: unknown): void
  close(): void
  onmessage: ((event: { readonly data: unknown }) => void) | null
}

export interface SharedTabsOptions {
  /** Default: a `BroadcastChannel`. */
  readonly channel?: (name: string) => TabChannel
  /** Default: `navigator.locks` where there is one. Null: tabs agree over the channel, which takes `claimMs`. */
  readonly locks?: LockManagerLike | null
  /** Milliseconds that a tab without locks waits for another's objection. Default 100. */
  readonly claimMs?: number
  readonly clock?: Clock
  /** Id of this tab. Default: random. */
  readonly id?: string
}

/**
 * What another tab did: it stored the thread, with this run under way and these saves in it, or removed it. `heard`: something came of
 * the run. `removal`: which one it is; each counts as a save of the tab that did it.
 */
export type News =
  | { readonly kind: 'saved'; readonly runId: string | undefined; readonly heard: boolean; readonly saves?: readonly Heard[] }
  | { readonly kind: 'cleared'; readonly removal?: Heard }

/** The line of one stored thread. */
export interface TabLine {
  announce(news: News): void
  readonly claims: Claims
  /** Lets go of the channel and of what was claimed. */
  close(): void
}

/** Opens the line of one key. Undefined where tabs cannot speak to each other. */
export type Tabs = (key: string, onNews: (news: News) => void) => TabLine | undefined

/**
 * Keeps the tabs that show one thread in step, as `tabs` of `persisted()`: a tab that is idle shows what another one sends;
 * tools run and questions are answered in one tab alone.
 * @throws UsageError `bad-options`.
 */
export function sharedTabs(options: SharedTabsOptions = {}): Tabs {
  checkOptions(options, 'The options of sharedTabs()')
  checkFields(options, { channel: FUNCTION, claimMs: COUNT, id: TEXT })
  const { clock = systemClock, claimMs = 100, id = generateId('message') } = options
  const open = options.channel ?? broadcast()
  return (key, onNews) => {
    const channel = attempt(() => open?.(`millrace:${key}`))
    if (channel === undefined) return undefined
    const locks = options.locks === undefined ? browserLocks() : options.locks
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
    const post = (message: object): void => attempt(() => channel.postMessage({ ...message, tab: id }))
    const claims = locks === null ? channelClaims({ id, post, clock, claimMs }) : lockClaims(locks, `millrace:${key}:`)
    channel.onmessage = ({ data }) => {
      // Any page of the origin may post here.
      const { kind, tab, to, runId, heard, saves, removal, name } = Object(data) as { readonly [field: string]: unknown }
      if (typeof tab !== 'string' || tab === id) return
      if (kind === 'saved') onNews({ kind, runId: typeof runId === 'string' ? runId : undefined, heard: heard === true, saves: attempt(() => heardFrom(saves)) ?? [] })
      else if (kind === 'cleared') onNews({ kind, ...removalFrom(removal) })
      else if ((kind === 'claim' || (kind === 'held' && to === id)) && typeof name === 'string') claims.heard?.(kind, name, tab)
    }
    return {
      announce: post,
      claims,
      close() {
        channel.onmessage = null
        claims.close()
        channel.close()
      },
    }
  }
}

function removalFrom(value: unknown): { readonly removal?: Heard } {
  const removal = attempt(() => heardFrom([value])[0])
  return removal === undefined ? {} : { removal }
}

/** A channel that is forbidden, or was closed by others, is none. */
function attempt<Value>(use: () => Value): Value | undefined {
  try {
    return use()
  } catch {
    return undefined
  }
}

function broadcast(): ((name: string) => TabChannel) | undefined {
  if (typeof BroadcastChannel !== 'function') return undefined
  return (name) => new BroadcastChannel(name) as TabChannel
}

function browserLocks(): LockManagerLike | null {
  const { navigator } = globalThis as { readonly navigator?: { readonly locks?: LockManagerLike } }
  return navigator?.locks ?? null
}
