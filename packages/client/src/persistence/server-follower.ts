/**
 * What a tab does about the others that show the same thread, where the thread is the server's: told of a run, it asks the server
 * again and reads along; what only one may do it leaves to the tab that began it. It stores nothing itself.
 */
import type { KeptChat } from '../chat/keeper.ts'
import type { TabFollower } from './follower.ts'
import { RunClaims, RUNS_LED } from './run-claims.ts'
import type { ReadThread } from './stored-thread.ts'
import type { News, TabLine } from './tabs.ts'

export interface ServerFollowerParts {
  readonly chat: KeptChat
  line(onNews: (news: News) => void): TabLine | undefined
  /** Reads what another tab stored: what the server does not tell. */
  load(): Promise<unknown>
  /** Shows what is stored of the calls that the last run left: the server hears of their results by the next request alone. */
  bring(): void
  save(): void
  /** Ends what runs and empties the chat, as in the tab that did. */
  empty(): void
}

export class ServerFollower implements TabFollower {
  readonly #parts: ServerFollowerParts
  readonly #claims = new RunClaims(() => this.#open())
  #line: TabLine | undefined
  /** Runs that other tabs began, oldest first: those store how they end, and answer their calls. */
  readonly #theirs = new Set<string>()
  /** The one of them that is read here. */
  #reading: string | undefined
  /** The one that was told of last. */
  #told: string | undefined
  /** Something was told while we could not look. */
  #behind = false
  /** Runs went on side by side: in which order their messages are is the server's to say, when all are over. */
  #mixed = false
  #looking = false

  constructor(parts: ServerFollowerParts) {
    this.#parts = parts
  }

  /** The run that was under way when the thread was stored is another tab's if that still lives. */
  begin(stored: ReadThread | undefined): Promise<void> | undefined {
    const runId = stored?.run?.runId
    if (this.#open() === undefined || runId === undefined) return undefined
    return this.claim(`run:${runId}`).then((mine) => {
      if (!mine) this.#note(runId)
    })
  }

  follows(): boolean {
    const { busy, unfinished } = this.#parts.chat.runner
    if (unfinished !== undefined && this.#theirs.has(unfinished.runId)) {
      this.#reading = unfinished.runId
      return true
    }
    const read = this.#reading
    if (read === undefined) return false
    // Whose its calls are to answer is being asked.
    if (busy && unfinished === undefined) return true
    this.#reading = undefined
    // Something of our own began.
    if (busy) return false
    void this.#ended(read)
    return true
  }

  leads(): void {
    const { runner, conversation } = this.#parts.chat
    const runId = runner.unfinished?.runId
    if (runId !== undefined) {
      // Read from what the server told, before its tab told of it.
      void this.#claims.lead(runId).then((mine) => {
        if (!mine) this.#note(runId)
      })
    }
    if (!runner.busy && conversation.thread.interrupts.length > 0) this.#claims.releaseAnswers()
  }

  /** Nothing of ours waits for what the others said: the server has both. */
  catchesUp(): boolean {
    if (this.#behind && !this.#parts.chat.runner.busy) void this.#look()
    return false
  }

  announce(kind: News['kind']): void {
    const { unfinished } = this.#parts.chat.runner
    // A run that is only read along here is not ours to tell of: it would be taken for one.
    const run = unfinished !== undefined && !this.#theirs.has(unfinished.runId) ? unfinished : undefined
    this.#line?.announce(kind === 'cleared' ? { kind } : { kind, runId: run?.runId, heard: (run?.seen ?? 0) > 0 })
  }

  async mayAnswer(runId: string): Promise<boolean> {
    const isTheirs = this.#theirs.has(runId)
    if (!(await this.claim(`run:${runId}`))) return false
    // What is done about it from now on is stored here.
    this.#theirs.delete(runId)
    if (this.#reading === runId) this.#reading = undefined
    // Its tab may have begun calls of it before it went, or gone on: that is asked for, and gone on with, when this reading is over.
    if (isTheirs) this.#behind = true
    return !isTheirs
  }

  async claim(name: string): Promise<boolean> {
    return this.#claims.claim(name)
  }

  close(): void {
    this.#line?.close()
    this.#line = undefined
    this.#claims.forget()
    this.#forget()
  }

  #forget(): void {
    this.#theirs.clear()
    this.#reading = this.#told = undefined
    this.#behind = this.#mixed = false
  }

  #open(): TabLine | undefined {
    this.#line ??= this.#parts.line((news) => this.#news(news))
    return this.#line
  }

  #note(runId: string): void {
    this.#theirs.delete(runId)
    this.#theirs.add(runId)
    for (const old of this.#theirs) {
      if (this.#theirs.size <= RUNS_LED) break
      this.#theirs.delete(old)
    }
  }

  #news(news: News): void {
    if (news.kind === 'cleared') {
      this.#forget()
      return this.#parts.empty()
    }
    const { runId, heard } = news
    if (runId !== undefined) {
      this.#note(runId)
      this.#told = runId
    }
    const { busy, unfinished } = this.#parts.chat.runner
    const isOurs = unfinished?.runId === (runId ?? this.#told)
    // The run that is read here tells its end itself.
    if (busy) {
      if (!isOurs) this.#behind = this.#mixed = true
    }
    // Before anything is heard of a run the server may not know it. One that was left here is left on purpose until it is over.
    else if (runId === undefined ? this.#mixed || !this.#isShown() : heard && !isOurs) void this.#look()
    else void this.#bring()
  }

  /** The run that was told of was read here, to its end. */
  #isShown(): boolean {
    const last = this.#parts.chat.conversation.thread.runs.at(-1)
    return last?.runId !== undefined && last.runId === this.#told && last.outcome !== 'running' && last.outcome !== 'truncated'
  }

  /** What the server has now, and the run that is under way there. */
  async #look(): Promise<void> {
    this.#behind = false
    if (this.#looking) return
    this.#looking = true
    const { chat, load } = this.#parts
    try {
      await load()
    } catch {
      // It shows where it matters: when this tab is restored, or saves.
    } finally {
      this.#looking = false
    }
    if (this.#line === undefined) return
    if (chat.runner.busy) {
      this.#behind = true
      return
    }
    // Nothing was under way any more.
    if ((await chat.attach()) === undefined) this.#mixed = false
  }

  /** What was stored of calls shows at once: they are not to be answered here again. */
  async #bring(): Promise<void> {
    const { chat, load, bring } = this.#parts
    try {
      await load()
    } catch {
      // It shows where it matters: when this tab is restored, or saves.
      return
    }
    if (this.#line !== undefined && !chat.runner.busy) bring()
  }

  /** The tab that began it stores how it ended, unless it is gone. */
  async #ended(runId: string): Promise<void> {
    if (this.#behind || this.#mixed) return this.#look()
    if (!(await this.claim(`run:${runId}`))) return
    try {
      // It may have begun calls of it.
      await this.#parts.load()
    } catch {
      // It shows where it matters: when this tab saves.
    }
    if (!this.#parts.chat.runner.busy) this.#parts.save()
  }
}
