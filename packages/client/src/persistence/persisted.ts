/** The option `persistence` of a chat: what it is made of, and what may be said of it. */
import { UsageError } from '@millrace/protocol'
import { checkFields, checkOptions, COUNT, FUNCTION, oneOf, RECORD, TEXT } from '../checks.ts'
import { systemClock, type Clock } from '../clock.ts'
import type { Persistence } from '../chat/keeper.ts'
import type { ChatStorage } from './storage.ts'
import type { Migrations } from './stored-thread.ts'
import { ThreadKeeper } from './thread-keeper.ts'
import type { Tabs } from './tabs.ts'

export interface PersistedOptions {
  /**
   * `client` (default): what is stored is the thread. `server`: the server has it and `attach()` asks for it; stored is only
   * which thread it is, which run asked the open questions, which one is under way, and what our tools did of the calls it left.
   */
  readonly mode?: 'client' | 'server'
  /** Milliseconds between a change and its save. The start and the end of a run are saved at once. Default 500. */
  readonly throttleMs?: number
  /** Under which key. Default: the thread's id. With a key of its own, a chat without `threadId` finds its thread again. */
  readonly key?: string
  /** Steps for values that an older version stored, by that version; they go before those of this package. */
  readonly migrate?: Migrations
  /**
   * Keeps the tabs that show the thread in step: `sharedTabs()`. In `client` mode they share what is stored; in `server` mode they
   * ask the server when another tab has sent something, so the connection has to be able to `hydrate`. Tabs that listen (`live`)
   * need none in `client` mode, where it is refused (`live-and-shared-tabs`): they hear each other.
   */
  readonly tabs?: Tabs
  readonly clock?: Clock
  /** Tells of `pagehide`. Default: the window, where there is one. */
  readonly page?: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>
}

/**
 * Stores the thread of a chat: `new ChatClient({ …, persistence: persisted(webStorage(() => localStorage)) })`. `attach()`
 * restores it, then joins the run that was under way if the connection can. What fails shows as `storageError` in the
 * snapshot, and ends no turn.
 * @throws UsageError `bad-options`.
 */
export function persisted(storage: ChatStorage, options: PersistedOptions = {}): Persistence {
  checkOptions(options, 'The options of persisted()')
  const { load, save, remove } = Object(storage) as Partial<ChatStorage>
  if (typeof load !== 'function' || typeof save !== 'function' || typeof remove !== 'function') {
    throw new UsageError('bad-options', 'persisted() needs a storage with load(), save() and remove(), such as webStorage(() => localStorage).')
  }
  const { mode = 'client', throttleMs = 500, tabs, key, migrate, clock = systemClock, page = theWindow() } = options
  checkFields(options, { mode: oneOf('client', 'server'), throttleMs: COUNT, key: TEXT, migrate: RECORD, tabs: [FUNCTION[0], 'what sharedTabs() gives'] })
  return (chat) => new ThreadKeeper(chat, { storage, mode, throttleMs, clock, key, migrate, tabs, page })
}

function theWindow(): PersistedOptions['page'] {
  const { addEventListener, removeEventListener } = globalThis as Partial<EventTarget>
  return typeof addEventListener === 'function' && typeof removeEventListener === 'function' ? (globalThis as unknown as EventTarget) : undefined
}
