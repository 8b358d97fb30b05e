/**
 * What a tab does about the others that show the same thread: it shows what they store, reads the runs they begin, and leaves
 * to them what only one may do. It stores nothing itself.
 */
import type { Message } from '@millrace/protocol'
import type { KeptChat } from '../chat/keeper.ts'
import type { LeftRun, ThreadBase } from '../chat/left-run.ts'
import type { Clock } from '../clock.ts'
import { Hearsay } from './hearsay.ts'
import { lacks } from './likeness.ts'
import { RunClaims } from './run-claims.ts'
import type { Heard, ReadThread } from './stored-thread.ts'
import type { News, TabLine } from './tabs.ts'

/**
 * A storage may lag behind the news of what was stored: that of one process of a browser is shown to another in its own time. It is
 * looked at again so often, so many ms apart.
 */
const LOOKS = 6
const AGAIN_MS = 60

export interface FollowerParts {
  readonly chat: KeptChat
  readonly clock: Clock
  line(onNews: (news: News) => void): TabLine | undefined
  load(): Promise<ReadThread | undefined>
  /** Shows a stored thread; gives the run that is under way by it. */
  show(stored: ReadThread | undefined): LeftRun | undefined
  /** Takes in what another tab stored while we said this. */
  merge(stored: ReadThread | undefined, said: readonly Message[]): void
  save(): void
  /** Removes what is stored. */
  remove(): void
  /** Ends what runs and empties the chat, as in the tab that did. */
  empty(): void
}

/** A run that another tab began: that tab stores the thread, and answers the calls. */
interface Followed {
  readonly base: ThreadBase
  readonly runIds: Set<string | undefined>
}

/** What keeps a thread asks of who follows the other tabs. */
export interface TabFollower {
  /** The thread was restored. A promise if it takes a while to know whose its run is. */
  begin(stored: ReadThread | undefined): Promise<void> | undefined
  /** True while what changes here is another tab's doing: that tab stores it. */
  follows(): boolean
  /** What runs now is ours, or nothing does any more. */
  leads(): void
  /** What another tab said meanwhile is taken in. True if what was said here is saved by that. */
  catchesUp(): boolean
  /** All that is stored is about to be removed. */
  clears?(): void
  /** Something was stored, or removed. */
  announce(kind: News['kind']): void
  /** Whether the calls that a run left are ours to answer. */
  mayAnswer(runId: string): Promise<boolean>
  /** What goes along with a save, if anything does. */
  stamp?(): readonly Heard[] | undefined
  /** Makes a name ours: false if another tab has it. True where there is no other tab to ask. */
  claim(name: string): Promise<boolean>
  close(): void
}

export class Follower implements TabFollower {
  readonly #parts: FollowerParts
  readonly #claims = new RunClaims(() => this.#open())
  #line: TabLine | undefined
  #followed: Followed | undefined
  /** Another tab stored something while we could not look. */
  #behind = false
  #looking = false
  /** The saves that were told of last, and how often they were looked for in vain. */
  #told: readonly Heard[] = []
  #vain = 0
  #cancelAgain: (() => void) | undefined
  /** The thread before the first run of ours that others may not have heard of. */
  #before: ThreadBase | undefined
  /** What was said since, and which save of ours has it: another tab may store over it what it says at the same time. */
  #said: readonly Message[] = []
  #saidBy = 0
  readonly #hearsay = new Hearsay()
  /** The last removal, here or elsewhere, and how often there was nothing left: what was being read then is of before. */
  #removal: Heard | undefined
  #times = 0

  constructor(parts: FollowerParts) {
    this.#parts = parts
  }

  /** The thread was restored: a run under way is another tab's if that still lives. */
  begin(stored: ReadThread | undefined): Promise<void> | undefined {
    this.#hearsay.take(stored?.heard)
    const left = this.#parts.chat.runner.unfinished
    if (this.#open() === undefined || stored?.run === undefined || left === undefined) return undefined
    return this.claim(`run:${left.runId}`).then((mine) => {
      if (!mine && this.#parts.chat.runner.unfinished?.base === left.base) this.#follow(left)
    })
  }

  /** True while what changes here is another tab's doing: that tab stores it. */
  follows(): boolean {
    // What is done here from now on is more than what was told of.
    if (this.#parts.chat.runner.busy) this.#expect([])
    const followed = this.#followed
    if (followed === undefined) return false
    const { busy, unfinished } = this.#parts.chat.runner
    if (unfinished === undefined ? busy : unfinished.base === followed.base) {
      followed.runIds.add(unfinished?.runId)
      return true
    }
    this.#followed = undefined
    // Something of our own began.
    if (busy) return false
    void this.#ended(followed)
    return true
  }

  /**
   * The calls that a run left are ours to answer. Not if another tab began it and went, and stored something that is not known
   * here: it may have answered them.
   */
  async mayAnswer(runId: string): Promise<boolean> {
    if (!(await this.claim(`run:${runId}`))) return false
    const followed = this.#followed
    if (followed === undefined) return true
    if (this.#behind) return false
    this.#followed = undefined
    this.#before ??= followed.base
    return true
  }

  /** What runs now is ours, or nothing does any more. */
  leads(): void {
    this.#expect([])
    const { busy, unfinished } = this.#parts.chat.runner
    if (this.#open() === undefined) return
    if (busy && unfinished !== undefined) this.#before ??= unfinished.base
    if (!busy) this.#say()
    if (unfinished !== undefined) void this.#claims.lead(unfinished.runId)
    if (!busy && this.#parts.chat.conversation.thread.interrupts.length > 0) this.#claims.releaseAnswers()
  }

  /** Two tabs said something at the same time: what the other one stored is not written over. False if none did. */
  catchesUp(): boolean {
    if (!this.#behind || this.#parts.chat.runner.busy) return false
    this.#behind = false
    void this.#merge()
    return true
  }

  async #merge(): Promise<void> {
    const { load, merge, save } = this.#parts
    const times = this.#times
    try {
      const stored = await load()
      if (times !== this.#times) return
      this.#hearsay.take(stored?.heard)
      merge(stored, this.#said)
    } catch {
      // What cannot be read cannot be lost.
    }
    save()
  }

  clears(): void {
    this.#removal = this.#hearsay.remove()
    this.#forget()
  }

  /** Something was stored, or removed. */
  announce(kind: News['kind']): void {
    const { unfinished } = this.#parts.chat.runner
    const removal = this.#removal
    this.#line?.announce(kind === 'cleared' ? { kind, ...(removal !== undefined && { removal }) } : { kind, runId: unfinished?.runId, heard: (unfinished?.seen ?? 0) > 0, saves: this.#hearsay.all })
  }

  /** True where there is no other tab to ask. */
  async claim(name: string): Promise<boolean> {
    return this.#claims.claim(name)
  }

  /** What goes along with a save; absent where no other tab can hear of it. */
  stamp(): readonly Heard[] | undefined {
    return this.#line === undefined ? undefined : this.#hearsay.next()
  }

  close(): void {
    this.#line?.close()
    this.#line = undefined
    this.#claims.forget()
    this.#forget()
  }

  #forget(): void {
    this.#times++
    this.#followed = undefined
    this.#behind = this.#looking
    this.#expect([])
    this.#heard()
  }

  #open(): TabLine | undefined {
    this.#line ??= this.#parts.line((news) => this.#news(news))
    return this.#line
  }

  #news(news: News): void {
    if (news.kind === 'cleared') return this.#emptied(news.removal)
    const { runId, saves } = news
    this.#expect(saves ?? [])
    if (!this.#parts.chat.runner.busy) return void this.#look()
    if (runId === undefined || this.#followed?.runIds.has(runId) !== true) this.#behind = true
    // It is read along here.
    else this.#hearsay.take(saves)
  }

  /** All was removed by another tab; `removal` was known here before if what is removed now was stored by one that had not heard of it. */
  #emptied(removal: Heard | undefined): void {
    const { chat, save, empty } = this.#parts
    const isKnown = removal !== undefined && String(removal) === String(this.#removal)
    // What was said since is stored by whoever said it.
    if (isKnown && this.#before !== undefined) return save()
    if (isKnown && chat.runner.busy) return
    const saves = this.#hearsay.own
    this.#removal = removal
    this.#forget()
    empty()
    if (!isKnown) void this.#takeBack(saves)
  }

  /** What this tab stored before it heard that all was removed goes, too: these saves, unless more was stored since. */
  async #takeBack(saves: number): Promise<void> {
    const heard = (await this.#stored())?.heard
    if (this.#line !== undefined && this.#hearsay.isOurs(heard) && !this.#hearsay.isIn(heard, saves + 1)) this.#parts.remove()
  }

  /** What another tab stored, if nothing runs here. */
  async #look(): Promise<void> {
    if (this.#looking) {
      this.#behind = true
      return
    }
    const { chat, load, show, merge, save } = this.#parts
    this.#looking = true
    this.#behind = false
    const times = this.#times
    let left: LeftRun | undefined
    try {
      const stored = await load()
      if (this.#line === undefined) return
      if (times === this.#times) this.#lookAgain(stored)
      if (chat.runner.busy || times !== this.#times) this.#behind = true
      else if (this.#isUnheard(stored)) {
        this.#hearsay.take(stored?.heard)
        merge(stored, this.#said)
        this.#saidBy = this.#hearsay.own + 1
        save()
      } else {
        this.#hearsay.take(stored?.heard)
        if (!this.#hearsay.isOurs(stored?.heard) && this.#hearsay.isIn(stored?.heard, this.#saidBy)) this.#heard()
        left = show(stored)
        // A run that was told of and never read here is over: what changes now is ours.
        if (left === undefined) this.#followed = undefined
      }
    } catch {
      // It shows where it matters: when this tab is restored, or saves.
    } finally {
      this.#looking = false
    }
    if (left !== undefined) {
      this.#follow(left)
      // A run of which nothing came yet may not have arrived there: it is joined when more is told of it.
      if (left.seen > 0) void chat.runner.join(left)
    }
    if (this.#behind && !chat.runner.busy) void this.#look()
  }

  #expect(saves: readonly Heard[]): void {
    this.#told = saves
    this.#vain = 0
    this.#cancelAgain?.()
    this.#cancelAgain = undefined
  }

  /** After a while, if what was told of is not there yet. One that did not know of it may have been stored over it, so not for ever. */
  #lookAgain(stored: ReadThread | undefined): void {
    if (this.#line === undefined || this.#cancelAgain !== undefined || this.#vain === LOOKS || !Hearsay.lacks(stored?.heard, this.#told)) return
    this.#vain++
    this.#cancelAgain = this.#parts.clock.after(AGAIN_MS, () => {
      this.#cancelAgain = undefined
      if (!this.#parts.chat.runner.busy) void this.#look()
    })
  }

  /** Whether what was stored was said without hearing of what we said. Who had heard of it may have removed it. */
  #isUnheard(stored: ReadThread | undefined): boolean {
    return stored !== undefined && this.#said.length > 0 && !this.#hearsay.isIn(stored.heard, this.#saidBy) && lacks(stored, this.#said)
  }

  #heard(): void {
    this.#before = undefined
    this.#said = []
  }

  #follow({ base, runId }: LeftRun): void {
    this.#followed = { base, runIds: new Set([runId]) }
  }

  /** The tab that began it stores how it ended, unless it is gone. */
  async #ended({ base, runIds }: Followed): Promise<void> {
    const { chat, save } = this.#parts
    const times = this.#times
    for (const runId of runIds) if (runId !== undefined && !(await this.claim(`run:${runId}`))) return this.#behind && !chat.runner.busy ? this.#look() : undefined
    const run = this.#behind ? (await this.#stored())?.run : undefined
    if (chat.runner.busy || times !== this.#times) return
    // It did, before it went.
    if (this.#behind && (run === undefined || !runIds.has(run.runId))) return this.#look()
    this.#before ??= base
    this.#say()
    if (!this.#behind) return save()
    this.#behind = false
    await this.#merge()
  }

  async #stored(): Promise<ReadThread | undefined> {
    try {
      return await this.#parts.load()
    } catch {
      return undefined
    }
  }

  #say(): void {
    if (this.#before === undefined) return
    const known = new Set(heardBefore(this.#before).map(({ id }) => id))
    this.#said = this.#parts.chat.conversation.thread.messages.filter(({ id }) => !known.has(id))
    this.#saidBy = this.#hearsay.own + 1
  }
}

/** Without what the user said last: a run begins behind that, and may end before anything comes of it. */
function heardBefore({ messages }: ThreadBase): readonly Message[] {
  return messages.slice(0, messages.findLastIndex(({ role }) => role !== 'user') + 1)
}
