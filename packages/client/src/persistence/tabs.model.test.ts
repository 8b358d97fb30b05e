/**
 * Tabs of one thread against what is to be true of them: whatever is done in which of them, all show the same in the end; what was
 * said is said once, a tool runs once, a question is answered once, and the thread outlives every tab.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { TurnResult } from '@millrace/client'
import { callId, CALLS, linesOf, type Kind, type Run } from '../../test/model-runs.ts'
import { Browser, type Agreement, type Tab } from '../../test/model-tabs.ts'

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve))
}

type Command =
  | { readonly do: 'send'; readonly tab: number; readonly kinds: readonly Kind[] }
  | { readonly do: 'respond' | 'answer' | 'close' | 'crash' | 'freeze' | 'come-back' | 'detach' | 'attach'; readonly tab: number }
  | { readonly do: 'release' | 'wait' | 'turns'; readonly n: number }
  | { readonly do: 'open' | 'finish-tools' }

const kind = fc.constantFrom<Kind>('text', 'text', 'text', 'asks', 'auto', 'slow', 'auto-and-asks', 'question')
const tab = fc.nat(2)
const command = (agreement: Agreement): fc.Arbitrary<Command> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('send' as const), tab, kinds: fc.array(kind, { minLength: 1, maxLength: 2 }) }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('release' as const), n: fc.integer({ min: 1, max: 8 }) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), n: fc.constantFrom(50, 150, 600) }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('turns' as const), n: fc.integer({ min: 1, max: 6 }) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('respond' as const, 'answer' as const), tab }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('close' as const, 'crash' as const, 'detach' as const, 'attach' as const), tab }) },
    // Where there are no locks, a tab that is frozen cannot object, and is taken for gone.
    ...(agreement === 'locks' ? [{ weight: 2, arbitrary: fc.record({ do: fc.constantFrom('freeze' as const, 'come-back' as const), tab }) }] : []),
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('open' as const, 'open' as const, 'finish-tools' as const) }) },
  )

/** A browser, and what was done in it. */
class Play {
  readonly browser: Browser
  /** What was said, and taken. */
  readonly #said: { readonly id: string; readonly text: string; readonly n: number }[] = []
  readonly #codes: string[] = []
  /** What the application gave for calls. */
  readonly #given: string[] = []
  /** What was begun in a tab and has not settled; a page that is gone settles nothing any more. */
  readonly #unsettled = new Set<{ readonly tab: Tab }>()
  #n = 0
  /** What each tab does of its own: the send it works for, and whether it is more than text. */
  readonly #work = new Map<Tab, { readonly n: number; readonly what: 'text' | 'more' }>()
  /** Runs after which something else was sent: the agent does not go on with them. */
  readonly #past = new Set<Run>()
  /** Those of them that nobody had read to their end then: what came of them later shows nowhere. */
  readonly #lost = new Set<Run>()
  /** A page went without a word: what it had not stored is lost. */
  #crashed = false
  /** A tab said something before it showed what another did. */
  #raced = false
  /** A page went that had tools to run, or answers to give: whoever comes next goes on with that. */
  #orphaned = false
  readonly #detached = new Set<Tab>()

  constructor(agreement: Agreement) {
    this.browser = new Browser(agreement)
  }

  /** Opens a tab as an application does. */
  open(): Tab {
    const opened = this.browser.openTab()
    this.#start(opened, opened.chat.attach())
    return opened
  }

  async do(given: Command): Promise<void> {
    const { browser } = this
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
      case 'open':
        if (browser.open.length < 3) this.open()
        return
    }
    const there = browser.open[given.tab]
    if (there === undefined) return
    if (given.do === 'come-back') return there.comeBack()
    if (given.do === 'close' || given.do === 'crash') {
      // Of two runs at the same time one alone can be stored as under way, and each tab says again what the other stored over.
      if (this.#raced) await turns(20)
      if (this.#work.size > (this.#raced ? 0 : 1)) return
      if (given.do === 'crash') this.#crashed = true
      if (this.#work.get(there)?.what === 'more' || this.#detached.has(there)) this.#orphaned = true
      this.#work.delete(there)
      return this.#close(there, given.do === 'close' ? 'closed' : 'crashed')
    }
    if (there.frozen) return
    const { chat } = there
    switch (given.do) {
      case 'freeze':
        return there.freeze()
      case 'detach':
        if (this.#raced || [...this.#work.keys()].some((each) => each !== there)) return
        this.#detached.add(there)
        return chat.detach()
      case 'attach':
        return this.#start(there, chat.attach())
      case 'send': {
        // So much do two tabs do at the same time: each says something, and is told something.
        const others = [...this.#work.keys()].filter((each) => each !== there)
        if (others.length === 0 && browser.open.some((each) => !/^(ready|error)$/.test(each.chat.getSnapshot().status))) return
        const plain = given.kinds.every((each) => each === 'text')
        if (others.length > 0 && (!plain || others.some((each) => this.#work.get(each)?.what === 'more'))) return
        if (others.length > 0 || this.#differs(there)) this.#raced = true
        const n = this.#n++
        const id = `u${n}`
        const text = `say ${n}`
        const sent = chat.sendMessage({ content: text, id }, { body: { plan: { n, kinds: given.kinds } } })
        this.#start(there, sent)
        const shows = (): boolean => chat.getSnapshot().messages.some((message) => message.id === id)
        // What the thread holds may be asked for at the moment, which takes tabs without locks a while.
        for (let n = 0; n < 4 && !shows(); n++) {
          await turns(6)
          browser.wait(150)
        }
        if (!shows()) return
        this.#said.push({ id, text, n })
        this.#begin(there, plain ? 'text' : 'more', sent, n)
        return
      }
      case 'respond': {
        const id = chat.getSnapshot().interrupts[0]?.id
        // A second answer is one too many while the tab that gave the first lives, and the user's own will when that is gone.
        const again = world.runs.some(({ input }) => input.resume.includes(id ?? ''))
        if (id === undefined || again !== this.#work.size > 0) return
        const answered = chat.respond(id, { status: 'resolved' })
        this.#start(there, answered)
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
        if ([...this.#work.keys()].some((each) => each !== there)) return
        this.#given.push(call)
        const answered = chat.addToolResult({ toolCallId: call, output: `given ${this.#n++}` })
        this.#start(there, answered)
        if (!this.#work.has(there)) this.#begin(there, 'more', answered)
      }
    }
  }

  /** Whether another tab shows something else. */
  #differs(there: Tab): boolean {
    const view = ({ chat: { getSnapshot } }: Tab): string => linesOf(getSnapshot().messages).join()
    return this.browser.open.some((each) => !each.frozen && view(each) !== view(there))
  }

  #close(there: Tab, how: 'closed' | 'crashed'): void {
    for (const begun of this.#unsettled) if (begun.tab === there) this.#unsettled.delete(begun)
    this.browser.closeTab(there, how)
  }

  #begin(there: Tab, what: 'text' | 'more', work: Promise<unknown>, n = -1): void {
    const held = [...this.#work.values()].map((work) => work.n)
    for (const run of this.browser.world.runs) {
      if (run.plan === n || held.includes(run.plan)) continue
      this.#past.add(run)
      if (run.released < run.script.length || !showsAll(there, run)) this.#lost.add(run)
    }
    const mine = { n, what }
    this.#work.set(there, mine)
    const over = (): void => {
      if (this.#work.get(there) === mine) this.#work.delete(there)
    }
    work.then(over, over)
  }

  #start(there: Tab, work: Promise<TurnResult | undefined>): void {
    const begun = { tab: there }
    this.#unsettled.add(begun)
    work.then(
      () => this.#unsettled.delete(begun),
      (error: { readonly code?: string }) => {
        this.#unsettled.delete(begun)
        this.#codes.push(error.code ?? String(error))
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
    return JSON.stringify([this.browser.world.runs.length, this.browser.world.executed.length, this.#unsettled.size, this.browser.open.map((each) => this.#shown(each))])
  }

  #shown({ chat }: Tab): unknown {
    const { messages, status, interrupts } = chat.getSnapshot()
    return { lines: linesOf(messages), status, interrupts: interrupts.map(({ id }) => id) }
  }

  async check(): Promise<void> {
    const { browser } = this
    const { world } = browser
    await this.quiet()
    if (this.#orphaned) for (const each of [...browser.open]) this.#close(each, 'closed')
    if (browser.open.length === 0) this.open()
    await this.quiet()
    // Whoever left a run comes back to it.
    for (const each of browser.open) this.#start(each, each.chat.attach())
    await this.quiet()
    const [first, ...others] = browser.open.map((each) => this.#shown(each)) as [{ lines: string[]; status: string; interrupts: string[] }, ...unknown[]]
    for (const other of others) expect(other).toEqual(first)
    expect(first.status).toBe('ready')
    expect(this.#unsettled.size).toBe(0)
    // Questions may have been answered elsewhere a moment before.
    for (const code of this.#codes) expect(code).toMatch(/^(answered-elsewhere|busy|unknown-interrupt|interrupts-pending)$/)
    const { lines } = first
    const answers = new Map(lines.filter((line) => line.startsWith('call')).map((line) => [line.split(' ')[1] as string, line.split(' ').slice(2).join(' ')]))
    const lost = [...this.#lost].map(({ runId }) => runId)
    const found = lines.filter((line) => line.startsWith('user') || !lost.some((runId) => line.includes(runId)))
    expect(found.sort()).toEqual(
      [...this.#said.map(({ id, text }) => `user ${id} ${text}`), ...world.runs.flatMap((run) => (this.#lost.has(run) ? [] : this.#linesOf(run, answers)))].sort(),
    )
    for (const run of world.runs) {
      const [asked, said] = [run.input.lines.at(-1) as string, `text ${run.runId} abc`]
      if (run.input.resume.length === 0 && asked.startsWith('user') && lines.includes(said)) expect(lines.indexOf(said)).toBeGreaterThan(lines.indexOf(asked))
    }
    const things = lines.map((line) => line.split(' ').slice(0, 2).join(' '))
    expect(new Set(things).size).toBe(things.length)
    // What was said was asked once.
    for (const { id, text } of this.#said) {
      expect(world.runs.filter(({ input }) => input.lines.at(-1) === `user ${id} ${text}` && input.resume.length === 0)).toHaveLength(1)
    }
    const resumes = world.runs.flatMap(({ input }) => input.resume)
    expect(new Set(resumes).size).toBe(resumes.length)
    expect(new Set(world.executed).size).toBe(world.executed.length)
    for (const run of world.runs) this.#checkRun(run, answers)
    // All go, and one comes back.
    for (const each of [...browser.open]) this.#close(each, 'closed')
    const again = this.open()
    await this.quiet()
    expect(this.#shown(again)).toEqual(first)
    this.#close(again, 'closed')
    expect(browser.tabs.open.size).toBe(0)
    await turns(2)
    expect(browser.tabs.held.size).toBe(0)
  }

  #checkRun(run: Run, answers: ReadonlyMap<string, string>): void {
    const calls = (CALLS[run.kind] ?? []).map((_, index) => callId(run.runId, index))
    const next = this.browser.world.runs.filter(({ input }) => input.resume.length === 0 && calls.some((call) => input.lines.at(-1)?.startsWith(`call ${call} `)))
    if (calls.length === 0) return
    expect(next.length, `${run.kind} ${run.runId} goes on`).toBeLessThanOrEqual(1)
    // Between the last answer and the next request a page may go.
    if (!this.#crashed && !this.#orphaned && !this.#past.has(run) && calls.every((call) => answers.get(call) !== '-')) expect(next).toHaveLength(1)
  }

  #linesOf(run: Run, answers: ReadonlyMap<string, string>): string[] {
    if (run.kind === 'text') return [`text ${run.runId} abc`]
    return (CALLS[run.kind] ?? []).map((name, index) => {
      const id = callId(run.runId, index)
      const answer = answers.get(id) ?? '-'
      if (this.#past.has(run) && /^(-|The user said something else instead\.)$/.test(answer)) return `call ${id} ${answer}`
      if (name === 'ask') expect(answer).toMatch(this.#given.includes(id) ? /^(-|given \d+)$/ : /^-$/)
      else expect(answer).toMatch(name === 'auto' ? /^(auto|The page was left while it ran\.)$/ : /^(slow|The page was left while it ran\.)$/)
      return `call ${id} ${answer}`
    })
  }
}

/** Whether all that a run says can be seen in this tab. */
function showsAll({ chat }: Tab, { kind: what, runId }: Run): boolean {
  const lines = linesOf(chat.getSnapshot().messages)
  if (what === 'text') return lines.includes(`text ${runId} abc`)
  return (CALLS[what] ?? []).every((_, index) => lines.some((line) => line.startsWith(`call ${callId(runId, index)} `)))
}

/** More in CI. */
const RUNS = Number(process.env['MILLRACE_MODEL_RUNS'] ?? 1_000)

it.each<Agreement>(['locks', 'channel'])(`tabs that agree by %s, ${RUNS / 2} sequences`, { timeout: 600_000 }, async (agreement) => {
  await fc.assert(
    fc.asyncProperty(fc.array(command(agreement), { maxLength: 25, size: 'max' }), async (commands) => {
      const play = new Play(agreement)
      play.open()
      play.open()
      await turns(4)
      for (const one of commands) {
        await play.do(one)
        // Tabs without locks agree by what they tell each other: it has to arrive.
        await turns(agreement === 'locks' ? 1 : 4)
      }
      await play.check()
    }),
    { numRuns: RUNS / 2 },
  )
})
