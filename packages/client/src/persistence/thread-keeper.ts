/**
 * Keeps one chat: reads what is stored before anything is written, shows it, and saves what changes. When something is written is
 * the saver's to say, what is written the likeness's, and what other tabs do is followed in `follower.ts`.
 */
import { UsageError, type Message } from '@millrace/protocol'
import type { Clock } from '../clock.ts'
import type { KeptChat, Keeper, Recalled } from '../chat/keeper.ts'
import type { LeftRun, ThreadBase } from '../chat/left-run.ts'
import { Follower, type TabFollower } from './follower.ts'
import { leaveCalls, likenessOf, pointerTo, recalledFrom, resultsLeft } from './likeness.ts'
import { merge, prepend, replace } from './placing.ts'
import { Saver } from './saver.ts'
import { ServerFollower } from './server-follower.ts'
import type { ChatStorage } from './storage.ts'
import { toStorageError, type StorageError } from './storage-error.ts'
import { readStored, type Migrations, type ReadThread, type StoredThread } from './stored-thread.ts'
import type { News, TabLine, Tabs } from './tabs.ts'

export interface KeeperOptions {
  readonly storage: ChatStorage
  readonly mode: 'client' | 'server'
  readonly throttleMs: number
  readonly clock: Clock
  readonly key: string | undefined
  readonly migrate: Migrations | undefined
  readonly tabs: Tabs | undefined
  readonly page: Pick<EventTarget, 'addEventListener' | 'removeEventListener'> | undefined
}

/** What is known of what is stored. Nothing is written while that is not known, or cannot be read. */
type Reading =
  | { readonly kind: 'unread' }
  | { readonly kind: 'reading'; readonly done: Promise<void> }
  | { readonly kind: 'read' }
  /** It is there and we cannot read it: only `forget` removes it. */
  | { readonly kind: 'unreadable' }

export class ThreadKeeper implements Keeper {
  readonly mode: 'client' | 'server'
  readonly sharesStored: boolean
  readonly mayAnswerCalls?: (runId: string) => Promise<boolean>
  readonly claimAnswers?: (interruptIds: readonly string[]) => Promise<void>
  readonly recall?: (runId: string) => Promise<Recalled | undefined>
  readonly #chat: KeptChat
  readonly #options: KeeperOptions
  readonly #saver: Saver
  readonly #follower: TabFollower | undefined
  #error: StorageError | undefined
  #reading: Reading = { kind: 'unread' }
  /** The chat was used before what is stored was known. */
  #used = false
  /** The application said which thread it is. */
  readonly #given: boolean
  /** What changes is our own doing, and nothing to save. */
  #quiet = false
  #forgotten = false
  /** What ran when we last looked. */
  #ran: string
  /** Of a thread that is the server's: what was stored. */
  #pointer: ReadThread | undefined

  constructor(chat: KeptChat, options: KeeperOptions) {
    const { mode, clock, throttleMs, page, tabs } = options
    this.#chat = chat
    this.#options = options
    this.#given = chat.threadId() !== undefined
    this.mode = mode
    this.sharesStored = mode === 'client' && tabs !== undefined
    this.#ran = this.#runs()
    this.#saver = new Saver({ clock, throttleMs, page, save: () => this.#save(), onSaved: (failure) => this.#saved(failure) })
    if (mode === 'server') this.recall = (runId) => this.#recall(runId)
    if (tabs === undefined) return
    const follower = this.#followerOf(tabs)
    this.#follower = follower
    this.mayAnswerCalls = async (runId) => {
      const mine = await follower.mayAnswer(runId)
      // A tool that is about to run is to be known as begun, to whoever comes after us.
      if (mine) this.#ran = ''
      return mine
    }
    this.claimAnswers = async (ids) => {
      if (await follower.claim(`answer:${[...ids].sort().join()}`)) return
      throw new UsageError('answered-elsewhere', 'The question is being answered in another tab.')
    }
  }

  #followerOf(tabs: Tabs): TabFollower {
    const chat = this.#chat
    const shared = {
      chat,
      line: (onNews: (news: News) => void) => this.#openLine(tabs, onNews),
      save: () => {
        this.#forgotten = false
        this.#saver.request()
        this.#saver.flush()
      },
      empty: () =>
        this.#quietly(() => {
          chat.runner.halt()
          this.#saver.drop()
          this.#pointer = undefined
          this.#replace(undefined)
          this.#ran = this.#runs()
        }),
    }
    if (this.mode === 'server') {
      const load = async (): Promise<void> => {
        this.#pointer = await this.#load()
      }
      return new ServerFollower({ ...shared, load, bring: () => this.#bring() })
    }
    return new Follower({
      ...shared,
      clock: this.#options.clock,
      load: () => this.#load(),
      remove: () => this.#remove(),
      show: (stored) => this.#replace(stored),
      merge: (stored, said) => {
        if (stored !== undefined && merge(chat, stored, said)) this.#show()
      },
    })
  }

  get error(): Error | undefined {
    return this.#error
  }

  restore(): Promise<void> | undefined {
    if (this.#reading.kind === 'reading') return this.#reading.done
    if (this.#reading.kind !== 'unread' || this.#key === undefined) return undefined
    let loaded: unknown
    try {
      loaded = this.#options.storage.load(this.#key)
    } catch (thrown) {
      this.#fail(thrown)
      return undefined
    }
    if (!isPromise(loaded)) return this.#take(loaded)
    const done = loaded
      .then(
        // Else it was forgotten meanwhile.
        (value) => (this.#reading.kind === 'reading' ? this.#take(value) : undefined),
        (thrown: unknown) => this.#fail(thrown),
      )
      .finally(() => {
        if (this.#reading.kind === 'reading') this.#reading = { kind: 'unread' }
      })
    this.#reading = { kind: 'reading', done }
    return done
  }

  complete(base: ThreadBase): ThreadBase {
    if (base.runs.length > 0) return base
    const { thread } = this.#chat.conversation
    if (base.interrupts.length === 0) {
      const known = [thread.runs, this.#pointer?.run === undefined ? (this.#pointer?.runs ?? []) : []].find((runs) => leaveCalls(runs, base.messages))
      return known === undefined ? base : { ...base, runs: known }
    }
    const ids = ({ interrupts }: Pick<ThreadBase, 'interrupts'>): string => JSON.stringify(interrupts.map(({ id }) => id).sort())
    // Questions that are others than those we knew of were asked by a run that we know nothing of.
    const known = [thread, this.#pointer].find((each) => each !== undefined && ids(each) === ids(base))
    return known === undefined ? base : { ...base, runs: known.runs }
  }

  get results(): readonly Message[] {
    return (this.mode === 'server' && this.#pointer?.results) || []
  }

  caughtUp(): void {
    this.#follower?.announce('saved')
  }

  async #recall(runId: string): Promise<Recalled | undefined> {
    try {
      const stored = await this.#load()
      return stored && recalledFrom(stored, runId)
    } catch {
      // Of what cannot be read nothing is known.
      return undefined
    }
  }

  changed(): void {
    if (this.#quiet) return
    const runs = this.#runs()
    const turned = runs !== this.#ran
    this.#ran = runs
    if (this.#reading.kind !== 'read') return this.#readFirst(turned)
    if (this.#follower?.follows() === true) return
    this.#forgotten = false
    if (turned || this.mode === 'client') this.#saver.request()
    if (!turned) return
    this.#follower?.leads()
    if (this.#follower?.catchesUp() !== true) this.#saver.flush()
  }

  forget(): void {
    this.#reading = { kind: 'read' }
    this.#pointer = undefined
    this.#follower?.clears?.()
    this.#remove()
  }

  #remove(): void {
    this.#forgotten = true
    this.#saver.drop()
    this.#saver.request()
    this.#saver.flush()
  }

  close(): void {
    const closing = this.#saver.close()
    if (closing === undefined) this.#follower?.close()
    // The other tabs are told when it is stored.
    else void closing.then(() => this.#follower?.close())
  }

  /** What is stored is shown, too, if the chat was used before that was read: it would be written over. */
  #readFirst(turned: boolean): void {
    this.#used = true
    // A storage that fails is asked again when a run begins or ends, not at each delta.
    if (this.#reading.kind === 'unread' && (turned || this.#error === undefined)) void this.restore()
  }

  #runs(): string {
    const { busy, unfinished } = this.#chat.runner
    // Looked for when nothing streams: a look at all messages is too much for each delta.
    const given = this.mode === 'server' && unfinished === undefined ? this.#resultsGiven() : 0
    // From its first event on, others can read it as well.
    return `${busy} ${unfinished?.runId} ${(unfinished?.seen ?? 0) > 0} ${given}`
  }

  /** What was found in the storage is no news, and what else is there is not to be written over for it. */
  #resultsGiven(): number {
    const kept = new Set(this.results.map(({ id }) => id))
    return resultsLeft(this.#chat.conversation.thread).filter(({ id }) => !kept.has(id)).length
  }

  get #key(): string | undefined {
    return this.#options.key ?? this.#chat.threadId()
  }

  #openLine(tabs: Tabs, onNews: (news: News) => void): TabLine | undefined {
    const key = this.#key
    return key === undefined ? undefined : tabs(key, onNews)
  }

  async #load(): Promise<ReadThread | undefined> {
    const key = this.#key
    return key === undefined ? undefined : this.#read(await this.#options.storage.load(key), key)
  }

  #read(value: unknown, key: string): ReadThread | undefined {
    const threadId = this.#chat.threadId()
    const stored = readStored(value, key, threadId ?? key, this.#options.migrate)
    // A key may have held another thread before.
    return this.#given && stored !== undefined && stored.threadId !== threadId ? undefined : stored
  }

  /** What was stored, at the first look. */
  #take(value: unknown): Promise<void> | undefined {
    let stored: ReadThread | undefined
    try {
      stored = this.#read(value, this.#key ?? '')
      if (stored !== undefined) this.#quietly(() => this.#adopt(stored as ReadThread))
    } catch (thrown) {
      this.#reading = { kind: 'unreadable' }
      this.#fail(thrown)
      return undefined
    }
    this.#reading = { kind: 'read' }
    const recovered = this.#error !== undefined
    this.#error = undefined
    if (stored !== undefined || recovered) this.#show()
    if (this.#used) {
      // Nothing of it was stored yet.
      this.#ran = ''
      this.changed()
    }
    return this.#follower?.begin(stored)
  }

  #adopt(stored: ReadThread): void {
    const chat = this.#chat
    if (!this.#used || chat.threadId() === undefined) chat.nameThread(stored.threadId)
    if (this.mode === 'server') {
      this.#pointer = stored
      const { conversation, runner } = chat
      const { interrupts, runs, messages, state } = conversation.thread
      const run = stored.run
      // A server that tells of its threads tells of the run as well.
      if (run !== undefined && !chat.canHydrate() && !runner.busy) {
        const base = { messages, state, interrupts, runs }
        runner.keep({ threadId: stored.threadId, runId: run.runId, seen: 0, base, ...(stored.foreign && { foreign: true }) }, [])
      }
      return
    }
    if (this.#used) prepend(chat, stored)
    else replace(chat, stored)
  }

  #replace(stored: ReadThread | undefined): LeftRun | undefined {
    return this.#quietly(() => {
      const left = replace(this.#chat, stored)
      this.#chat.onChange()
      return left
    })
  }

  #bring(): void {
    const { conversation, onChange } = this.#chat
    if (this.results.length === 0) return
    this.#quietly(() => {
      conversation.bringResults(conversation.builder, this.results)
      this.#ran = this.#runs()
      onChange()
    })
  }

  #save(): void | Promise<void> {
    const { storage } = this.#options
    const key = this.#key
    if (key === undefined) return
    if (this.#forgotten) return storage.remove(key)
    const thread = this.#likeness()
    if (thread === undefined) return
    const heard = this.#follower?.stamp?.()
    return storage.save(key, heard === undefined ? thread : { ...thread, heard })
  }

  #likeness(): StoredThread | undefined {
    return this.mode === 'client' ? likenessOf(this.#chat) : pointerTo(this.#chat, this.#pointer)
  }

  #saved(failure: { readonly thrown: unknown } | undefined): void {
    if (failure !== undefined) return this.#fail(failure.thrown)
    this.#follower?.announce(this.#forgotten ? 'cleared' : 'saved')
    if (this.#error === undefined) return
    this.#error = undefined
    this.#show()
  }

  #fail(thrown: unknown): void {
    this.#error = toStorageError(thrown, this.#key ?? '')
    this.#show()
  }

  #show(): void {
    this.#quietly(() => this.#chat.onChange())
  }

  #quietly<Result>(change: () => Result): Result {
    const before = this.#quiet
    this.#quiet = true
    try {
      return change()
    } finally {
      this.#quiet = before
    }
  }
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (Object(value) as Partial<Promise<unknown>>).then === 'function'
}
