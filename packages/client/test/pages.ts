/** Pages that come and go over one disk: a chat that is stored, on a clock that stands still, and its crash. */
import { ChatClient, fetchServerSentEvents, persisted, type ChatClientOptions, type ChatSnapshot, type ChatStorage, type PersistedOptions, type StoredThread } from '@millrace/client'
import { FakeClock } from './fake-clock.ts'

/** What tells of `pagehide`, and how many listen. */
export class FakeWindow {
  readonly listeners = new Set<unknown>()

  addEventListener(type: string, listener: unknown): void {
    if (type === 'pagehide') this.listeners.add(listener)
  }

  removeEventListener(_: string, listener: unknown): void {
    this.listeners.delete(listener)
  }

  hide(): void {
    for (const listener of [...this.listeners]) (listener as () => void)()
  }
}

export interface Page {
  readonly chat: ChatClient
  readonly clock: FakeClock
  readonly window: FakeWindow
  /** What it saved, in order; undefined for a removal. */
  readonly saves: (StoredThread | undefined)[]
  /** The page is gone: nothing it does reaches the disk or the server any more. */
  crash(): void
}

let ids = 0

export function openPage(disk: ChatStorage, url: string | undefined, options: Partial<ChatClientOptions> = {}, persistence: PersistedOptions = {}): Page {
  const clock = new FakeClock()
  const window = new FakeWindow()
  const saves: (StoredThread | undefined)[] = []
  let dead = false
  const storage: ChatStorage = {
    load: (key) => disk.load(key),
    save: (key, thread) => {
      if (dead) return undefined
      saves.push(thread)
      return disk.save(key, thread)
    },
    remove: (key) => {
      if (dead) return undefined
      saves.push(undefined)
      return disk.remove(key)
    },
  }
  const chat = new ChatClient({
    threadId: 't1',
    generateId: (kind) => `${kind}-${++ids}`,
    ...(url !== undefined && { connection: fetchServerSentEvents(url, { reconnect: { delayMs: 0 } }) }),
    persistence: persisted(storage, { clock, page: window, ...persistence }),
    ...options,
  })
  return {
    chat,
    clock,
    window,
    saves,
    crash() {
      dead = true
      chat.detach()
    },
  }
}

/** What there is to see, apart from ids that are made anew each time. */
export const shown = ({ messages, state, interrupts }: ChatSnapshot): unknown =>
  JSON.parse(JSON.stringify({ messages: messages.map(({ id, role, parts }) => (role === 'user' ? { role, parts: parts.map(({ origin: _origin, ...part }) => part) } : { id, role, parts })), state, interrupts }))
