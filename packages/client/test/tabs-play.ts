/** A browser, and what is done in it: noted, and kept to what has one right end. */
import type { TurnResult } from '@millrace/client'
import { callId, CALLS, linesOf, type Run } from './model-runs.ts'
import { Browser, type Agreement, type Mode, type Tab } from './model-tabs.ts'
import type { Command } from './tabs-commands.ts'
import { TabsStory } from './tabs-story.ts'

export async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve))
}

/** Attempts to reconnect are counted while nothing comes: so many cuts bring no end. */
const CUTS = 3

/** What there is to see in a tab. */
export interface Shown {
  readonly lines: string[]
  readonly status: string
  readonly interrupts: readonly string[]
}

export class TabsPlay {
  readonly browser: Browser
  readonly story = new TabsStory()
  #n = 0
  #cuts = 0

  constructor(agreement: Agreement, mode: Mode) {
    this.browser = new Browser(agreement, mode)
  }

  /** Opens a tab as an application does. */
  open(): Tab {
    const opened = this.browser.openTab()
    this.start(opened, opened.chat.attach())
    return opened
  }

  async do(given: Command): Promise<void> {
    const { browser, story } = this
    const { world } = browser
    switch (given.do) {
      case 'release':
        return world.release(given.n)
      case 'wait':
        // What was posted arrives long before.
        await turns(6)
        return browser.wait(given.n)
      case 'turns':
        return turns(given.n)
      case 'finish-tools':
        return world.finishTools()
      case 'cut':
        if (this.#cuts++ < CUTS) world.cut()
        return
      case 'open':
        if (browser.open.length < 3) this.open()
        return
    }
    const there = browser.open[given.tab]
    if (there === undefined) return
    if (given.do === 'come-back') return there.comeBack()
    if (given.do === 'close' || given.do === 'crash') {
      // Of two runs at the same time one alone can be stored as under way, and each tab says again what the other stored over.
      if (story.raced) await turns(20)
      if (story.work.size > (story.raced ? 0 : 1)) return
      if (given.do === 'crash') story.crashed = true
      if (story.work.get(there)?.what === 'more' || story.detached.has(there)) story.orphaned = true
      story.work.delete(there)
      return this.close(there, given.do === 'close' ? 'closed' : 'crashed')
    }
    if (there.frozen) return
    const { chat } = there
    switch (given.do) {
      case 'freeze':
        return there.freeze()
      case 'detach':
        // What was cleared here the server still has: who asks it shows that again, and who joins a run does not.
        if (browser.mode === 'server' && story.cleared.size > 0) return
        if (story.raced || [...story.work.keys()].some((each) => each !== there)) return
        story.detached.add(there)
        return chat.detach()
      case 'stop':
        return this.#stop(there)
      case 'clear':
        return this.#clear(there)
      case 'attach':
        return this.start(there, chat.attach())
      case 'send': {
        // So much do two tabs do at the same time: each says something, and is told something.
        const others = [...story.work.keys()].filter((each) => each !== there)
        if (others.length === 0 && browser.open.some((each) => !/^(ready|error)$/.test(each.chat.getSnapshot().status))) return
        const plain = given.kinds.every((each) => each === 'text')
        if (others.length > 0 && (!plain || others.some((each) => story.work.get(each)?.what === 'more'))) return
        if (others.length > 0 || this.#differs(there)) story.raced = true
        const n = this.#n++
        const id = `u${n}`
        const text = `say ${n}`
        const sent = chat.sendMessage({ content: text, id }, { body: { plan: { n, kinds: given.kinds } } })
        this.start(there, sent)
        const shows = (): boolean => chat.getSnapshot().messages.some((message) => message.id === id)
        // What the thread holds may be asked for at the moment, which takes tabs without locks a while.
        for (let n = 0; n < 4 && !shows(); n++) {
          await turns(6)
          browser.wait(150)
        }
        if (!shows()) return
        story.said.push({ id, text, n })
        this.#begin(there, plain ? 'text' : 'more', sent, n)
        return
      }
      case 'respond': {
        const id = chat.getSnapshot().interrupts[0]?.id
        // A second answer is one too many while the tab that gave the first lives, and the user's own will when that is gone.
        const again = world.runs.some(({ input }) => input.resume.includes(id ?? ''))
        if (id === undefined || again !== story.work.size > 0) return
        const answered = chat.respond(id, { status: 'resolved' })
        this.start(there, answered)
        return this.#begin(there, 'more', answered)
      }
      case 'answer': {
        // An answer alone is no run: of two tabs that change something so at the same time, the later one has it.
        for (let n = 0; n < 3; n++) {
          await turns(6)
          browser.wait(150)
        }
        await turns(6)
        if (there.frozen || this.#differs(there)) return
        const call = linesOf(chat.getSnapshot().messages).findLast((line) => line.startsWith('call') && line.endsWith(' -'))?.split(' ')[1]
        const run = world.runs.find(({ runId }) => call?.endsWith(`-${runId}`) === true)
        if (call === undefined || run === undefined || CALLS[run.kind]?.[Number(call[1])] !== 'ask') return
        if ([...story.work.keys()].some((each) => each !== there)) return
        story.given.push(call)
        const answered = chat.addToolResult({ toolCallId: call, output: `given ${this.#n++}` })
        this.start(there, answered)
        if (!story.work.has(there)) this.#begin(there, 'more', answered)
      }
    }
  }

  #stop(there: Tab): void {
    const { story } = this
    const { status, messages } = there.chat.getSnapshot()
    if (/^(ready|error)$/.test(status) && !story.detached.has(there)) return
    const open = linesOf(messages).filter((line) => line.startsWith('call') && line.endsWith(' -'))
    for (const run of this.browser.world.runs) {
      const isOver = run.released === run.script.length && showsAll(there, run) && !open.some((line) => line.includes(run.runId))
      // It may have been about to be gone on with.
      if (isOver && run === this.browser.world.runs.at(-1)) story.past.add(run)
      if (isOver || story.past.has(run)) continue
      story.past.add(run)
      story.stopped.add(run)
    }
    there.chat.stop()
  }

  async #clear(there: Tab): Promise<void> {
    const { story, browser } = this
    // What is said at the same moment may be taken away by it, or not.
    if (story.raced || story.work.size > 1 || browser.open.some(({ frozen }) => frozen)) return
    there.chat.clear()
    for (const run of browser.world.runs) {
      story.past.add(run)
      story.lost.add(run)
      story.cleared.add(run)
    }
    // A server that keeps threads keeps it.
    if (browser.mode === 'client') story.said = []
    for (let n = 0; n < 3; n++) {
      await turns(6)
      browser.wait(150)
    }
    await turns(6)
  }

  /** Whether another tab shows something else. */
  #differs(there: Tab): boolean {
    const view = ({ chat: { getSnapshot } }: Tab): string => linesOf(getSnapshot().messages).join()
    return this.browser.open.some((each) => !each.frozen && view(each) !== view(there))
  }

  close(there: Tab, how: 'closed' | 'crashed'): void {
    const { story } = this
    story.gone = true
    for (const begun of story.unsettled) if (begun.tab === there) story.unsettled.delete(begun)
    this.browser.closeTab(there, how)
  }

  #begin(there: Tab, what: 'text' | 'more', work: Promise<unknown>, n = -1): void {
    const { story } = this
    const held = [...story.work.values()].map((work) => work.n)
    for (const run of this.browser.world.runs) {
      if (run.plan === n || held.includes(run.plan)) continue
      story.past.add(run)
      if (run.released < run.script.length || !showsAll(there, run)) story.lost.add(run)
    }
    const mine = { n, what }
    story.work.set(there, mine)
    const over = (): void => {
      if (story.work.get(there) === mine) story.work.delete(there)
    }
    work.then(over, over)
  }

  start(there: Tab, work: Promise<TurnResult | undefined>): void {
    const { story } = this
    const begun = { tab: there }
    story.unsettled.add(begun)
    work.then(
      () => story.unsettled.delete(begun),
      (error: { readonly code?: string }) => {
        story.unsettled.delete(begun)
        story.codes.push(error.code ?? String(error))
      },
    )
  }

  /** Until nothing more comes, however long one waits. */
  async quiet(): Promise<void> {
    const { browser } = this
    let still = 0
    for (let n = 0; still < 2; n++) {
      if (n === 60) throw new Error('it does not come to rest')
      const before = this.#picture()
      for (const each of browser.open) if (each.frozen) each.comeBack()
      browser.world.release(100)
      browser.world.finishTools()
      await turns(6)
      browser.wait(600)
      await turns(6)
      still = before === this.#picture() ? still + 1 : 0
    }
  }

  #picture(): string {
    return JSON.stringify([this.browser.world.runs.length, this.browser.world.executed.length, this.story.unsettled.size, this.browser.open.map((each) => this.shown(each))])
  }

  shown({ chat }: Tab): Shown {
    const { messages, status, interrupts } = chat.getSnapshot()
    return { lines: linesOf(messages), status, interrupts: interrupts.map(({ id }) => id) }
  }
}

/** Whether all that a run says can be seen in this tab. */
function showsAll({ chat }: Tab, { kind: what, runId }: Run): boolean {
  const lines = linesOf(chat.getSnapshot().messages)
  if (what === 'text') return lines.includes(`text ${runId} abc`)
  return (CALLS[what] ?? []).every((_, index) => lines.some((line) => line.startsWith(`call ${callId(runId, index)} `)))
}
