/**
 * What a tab does about the others that show the same thread: it shows what they store, reads the runs they begin, and leaves
 * to them what only one may do. It stores nothing itself.
 */
import type { Message } from '@millrace/protocol'
import type { KeptChat } from '../chat/keeper.ts'
import type { LeftRun, ThreadBase } from '../chat/left-run.ts'
import { lacks } from './likeness.ts'
import type { ReadThread } from './stored-thread.ts'
import type { News, TabLine } from './tabs.ts'

export interface FollowerParts {
  readonly chat: KeptChat
  line(onNews: (news: News) => void): TabLine | undefined
  load(): Promise<ReadThread | undefined>
  /** Shows a stored thread; gives the run that is under way by it. */
  show(stored: ReadThread | undefined): LeftRun | undefined
  /** Takes in what another tab stored while something of ours ran. */
  merge(stored: ReadThread | undefined): void
  save(): void
  /** Ends what runs and empties the chat, as in the tab that did. */
  empty(): void
}

/** A run that another tab began: that tab stores the thread, and answers the calls. */
interface Followed {
  readonly base: ThreadBase
  readonly runIds: Set<string | undefined>
}

/** Runs whose claim is kept: one that is this many runs behind is being read by nobody any more. */
const RUNS_LED = 32

export class Follower {
  readonly #parts: FollowerParts
  #line: TabLine | undefined
  #followed: Followed | undefined
  /** Another tab stored something while we could not look. */
  #behind = false
  #looking = false
  /** The thread before the last run of ours. */
  #before: ThreadBase | undefined
  /** What was said in a run of ours while another tab said something too: that may have been stored over it. */
  #said: readonly Message[] = []
  /** Claims of runs of ours, oldest first. */
  readonly #led = new Set<string>()

  constructor(parts: FollowerParts) {
    this.#parts = parts
  }

  /** The thread was restored: a run under way is another tab's if that still lives. */
  begin(stored: ReadThread | undefined): Promise<void> | undefined {
    const left = this.#parts.chat.runner.unfinished
    if (this.#open() === undefined || stored?.run === undefined || left === undefined) return undefined
    return this.claim(`run:${left.runId}`).then((mine) => {
      if (!mine && this.#parts.chat.runner.unfinished?.base === left.base) this.#follow(left)
    })
  }

  /** True while what changes here is another tab's doing: that tab stores it. */
  follows(): boolean {
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

  /** What runs now is ours, or nothing does any more. */
  leads(): void {
    const { busy, unfinished } = this.#parts.chat.runner
    const line = this.#open()
    if (line === undefined) return
    if (busy && unfinished !== undefined) this.#before = unfinished.base
    if (unfinished !== undefined) this.#lead(`run:${unfinished.runId}`, line)
    // Answers that failed may be given by whoever comes next.
    if (!busy && this.#parts.chat.conversation.thread.interrupts.length > 0) line.claims.release((name) => name.startsWith('answer:'))
  }

  /** Two tabs said something at the same time: what the other one stored is not written over. False if none did. */
  catchesUp(): boolean {
    if (!this.#behind || this.#parts.chat.runner.busy) return false
    this.#behind = false
    const known = new Set(this.#before?.messages.map(({ id }) => id))
    this.#said = this.#parts.chat.conversation.thread.messages.filter(({ id }) => !known.has(id))
    void this.#merge()
    return true
  }

  async #merge(): Promise<void> {
    const { load, merge, save } = this.#parts
    try {
      merge(await load())
    } catch {
      // What cannot be read cannot be lost.
    }
    save()
  }

  /** Something was stored, or removed. */
  announce(kind: News['kind']): void {
    this.#line?.announce(kind === 'cleared' ? { kind } : { kind, runId: this.#parts.chat.runner.unfinished?.runId })
  }

  /** True where there is no other tab to ask. */
  async claim(name: string): Promise<boolean> {
    return this.#open()?.claims.claim(name) ?? true
  }

  close(): void {
    this.#line?.close()
    this.#line = undefined
    this.#led.clear()
    this.#followed = undefined
    this.#behind = false
    this.#before = undefined
    this.#said = []
  }

  #open(): TabLine | undefined {
    this.#line ??= this.#parts.line((news) => this.#news(news))
    return this.#line
  }

  #news(news: News): void {
    if (news.kind === 'cleared') {
      this.#followed = undefined
      this.#behind = false
      this.#said = []
      return this.#parts.empty()
    }
    const { runId } = news
    if (!this.#parts.chat.runner.busy) return void this.#look()
    if (runId === undefined || this.#followed?.runIds.has(runId) !== true) this.#behind = true
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
    let left: LeftRun | undefined
    try {
      const stored = await load()
      if (this.#line === undefined) return
      if (chat.runner.busy) this.#behind = true
      else if (this.#isUnheard(stored)) {
        merge(stored)
        save()
      } else left = show(stored)
    } catch {
      // It shows where it matters: when this tab is restored, or saves.
    } finally {
      this.#looking = false
    }
    if (left !== undefined) {
      this.#follow(left)
      // A run of which nothing came yet may not have arrived there: it is joined when more is told of it.
      if (left.seen > 0) void chat.runner.join(left)
    } else if (this.#behind && !chat.runner.busy) void this.#look()
  }

  /** A run stays ours when it is over: a tab that reads it more slowly is not to answer its calls again. */
  #lead(name: string, line: TabLine): void {
    void line.claims.claim(name)
    this.#led.delete(name)
    this.#led.add(name)
    for (const old of this.#led) {
      if (this.#led.size <= RUNS_LED) break
      this.#led.delete(old)
      line.claims.release((each) => each === old)
    }
  }

  /** Asked once: from then on another tab may have removed it. */
  #isUnheard(stored: ReadThread | undefined): boolean {
    const said = this.#said
    this.#said = []
    return stored !== undefined && said.length > 0 && lacks(stored, said)
  }

  #follow({ base, runId }: LeftRun): void {
    this.#followed = { base, runIds: new Set([runId]) }
  }

  /** The tab that began it stores how it ended, unless it is gone. */
  async #ended({ runIds }: Followed): Promise<void> {
    if (this.#behind) return this.#look()
    for (const runId of runIds) if (runId !== undefined && !(await this.claim(`run:${runId}`))) return
    if (!this.#parts.chat.runner.busy) this.#parts.save()
  }
}
