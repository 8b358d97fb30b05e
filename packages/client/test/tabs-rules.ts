/** What is to be true of the tabs of a browser when all is at rest, whatever was done in them. */
import { toUIMessages } from '@millrace/protocol'
import { expect } from 'vitest'
import { callId, CALLS, linesOf, type Run } from './model-runs.ts'
import { threadOf } from './model-thread.ts'
import { turns, type Shown, type TabsPlay } from './tabs-play.ts'
import type { TabsStory } from './tabs-story.ts'

/** An answer that a call is given if nothing else comes of it. */
const UNANSWERED = /^(-|The user said something else instead\.|The user stopped it\.)$/

export async function checkAtRest(play: TabsPlay): Promise<void> {
  const { browser, story } = play
  const { world } = browser
  await play.quiet()
  const untouched = !story.raced && !story.gone && story.detached.size + story.cleared.size === 0
  // A tab that is opened, or left, while runs end may miss one until something is done: known, and rare.
  const isPlain = untouched && browser.open.length === 2 && story.said.length === 1
  if (browser.mode === 'server' && isPlain && world.runs.every((run) => run.kind === 'text')) expectSame(play)
  if (story.orphaned) for (const each of [...browser.open]) play.close(each, 'closed')
  if (browser.open.length === 0) play.open()
  await play.quiet()
  // Whoever left a run comes back to it.
  for (const each of browser.open) play.start(each, each.chat.attach())
  await play.quiet()
  if (browser.mode === 'server') {
    // A run that was left is joined over what was there; what the server has beside it is had by asking for it.
    for (const each of browser.open) play.start(each, each.chat.attach())
    await play.quiet()
  }
  const first = expectSame(play)
  expect(first.status).toBe('ready')
  expect(story.unsettled.size).toBe(0)
  // Questions may have been answered elsewhere a moment before.
  for (const code of story.codes) expect(code).toMatch(/^(answered-elsewhere|busy|unknown-interrupt|interrupts-pending)$/)
  const { lines } = first
  const answers = new Map(lines.filter((line) => line.startsWith('call')).map((line) => [line.split(' ')[1] as string, line.split(' ').slice(2).join(' ')]))
  if (browser.mode === 'client') checkStored(play, lines, answers)
  else checkServed(play, first)
  const things = lines.map((line) => line.split(' ').slice(0, 2).join(' '))
  expect(new Set(things).size).toBe(things.length)
  // What was said was asked once.
  for (const { id, text } of story.said) {
    expect(world.runs.filter(({ input }) => input.lines.at(-1) === `user ${id} ${text}` && input.resume.length === 0)).toHaveLength(1)
  }
  const resumes = world.runs.flatMap(({ input }) => input.resume)
  expect(new Set(resumes).size).toBe(resumes.length)
  expect(new Set(world.executed).size).toBe(world.executed.length)
  for (const run of world.runs) checkGoesOn(play, run, answers)
  // All go, and one comes back.
  for (const each of [...browser.open]) play.close(each, 'closed')
  const again = play.open()
  await play.quiet()
  expect(heard(play, play.shown(again))).toEqual(heard(play, first))
  play.close(again, 'closed')
  expect(browser.tabs.open.size).toBe(0)
  await turns(2)
  expect(browser.tabs.held.size).toBe(0)
}

function expectSame(play: TabsPlay): Shown {
  const [first, ...others] = play.browser.open.map((each) => play.shown(each))
  for (const other of others) expect(heard(play, other)).toEqual(first && heard(play, first))
  return first ?? { lines: [], status: 'ready', interrupts: [] }
}

/** Without answers that the server of the thread has not heard of: tabs tell each other of them as far as they are there to listen. */
function heard({ browser: { mode, world } }: TabsPlay, shown: Shown): Shown {
  if (mode === 'client') return shown
  const open = unheard(world.runs)
  return { ...shown, lines: withoutAnswers(shown.lines, (id) => open.has(id)) }
}

function unheard(runs: readonly Run[]): ReadonlySet<string> {
  const served = linesOf(toUIMessages(threadOf(runs)?.messages ?? []))
  return new Set(served.filter((line) => line.startsWith('call') && line.endsWith(' -')).map((line) => line.split(' ')[1] as string))
}

function withoutAnswers(lines: readonly string[], isLeftOut: (id: string) => boolean): string[] {
  return lines.map((line) => {
    const [what, id = ''] = line.split(' ')
    return what === 'call' && isLeftOut(id) ? `call ${id} -` : line
  })
}

/** What was said, and all that came of it, is in the thread that is stored. */
function checkStored({ browser: { world }, story }: TabsPlay, lines: readonly string[], answers: ReadonlyMap<string, string>): void {
  for (const { runId } of story.cleared) expect(lines.filter((line) => line.includes(runId))).toEqual([])
  for (const { runId } of story.stopped) expect(lines.find((line) => line.startsWith(`text ${runId}`)) ?? '').toMatch(/^(text \S+ abc|text \S+ ab?)?$/)
  const isOpen = (run: Run): boolean => story.lost.has(run) || story.stopped.has(run)
  const loose = world.runs.filter(isOpen)
  const found = lines.filter((line) => line.startsWith('user') || !loose.some(({ runId }) => line.includes(runId)))
  const expected = world.runs.flatMap((run) => (isOpen(run) ? [] : linesOfRun(story, run, answers)))
  expect(found.sort()).toEqual([...story.said.map(({ id, text }) => `user ${id} ${text}`), ...expected].sort())
  for (const run of world.runs) {
    const [asked, said] = [run.input.lines.at(-1) as string, `text ${run.runId} abc`]
    if (run.input.resume.length === 0 && asked.startsWith('user') && lines.includes(said)) expect(lines.indexOf(said)).toBeGreaterThan(lines.indexOf(asked))
  }
}

/** The thread is that of the server, with what it has not heard yet of calls. */
function checkServed({ browser }: TabsPlay, { lines, interrupts }: Shown): void {
  const thread = threadOf(browser.world.runs)
  const open = unheard(browser.world.runs)
  const shown = withoutAnswers(lines, (id) => open.has(id))
  expect({ lines: shown, interrupts }).toEqual({ lines: linesOf(toUIMessages(thread?.messages ?? [])), interrupts: thread?.interrupts.map(({ id }) => id) ?? [] })
}

function checkGoesOn({ browser: { world, mode }, story }: TabsPlay, run: Run, answers: ReadonlyMap<string, string>): void {
  const calls = (CALLS[run.kind] ?? []).map((_, index) => callId(run.runId, index))
  const next = world.runs.filter(({ input }) => input.resume.length === 0 && calls.some((call) => input.lines.at(-1)?.startsWith(`call ${call} `)))
  if (calls.length === 0) return
  expect(next.length, `${run.kind} ${run.runId} goes on`).toBeLessThanOrEqual(1)
  // Between the last answer and the next request a page may go; and a server hears of answers by that request alone.
  if (mode === 'client' && !story.crashed && !story.orphaned && !story.past.has(run) && calls.every((call) => answers.get(call) !== '-')) expect(next).toHaveLength(1)
}

function linesOfRun({ past, given }: TabsStory, run: Run, answers: ReadonlyMap<string, string>): string[] {
  if (run.kind === 'text') return [`text ${run.runId} abc`]
  return (CALLS[run.kind] ?? []).map((name, index) => {
    const id = callId(run.runId, index)
    const answer = answers.get(id) ?? '-'
    if (past.has(run) && UNANSWERED.test(answer)) return `call ${id} ${answer}`
    if (name === 'ask') expect(answer).toMatch(given.includes(id) ? /^(-|given \d+)$/ : /^-$/)
    else expect(answer).toMatch(name === 'auto' ? /^(auto|The page was left while it ran\.)$/ : /^(slow|The page was left while it ran\.)$/)
    return `call ${id} ${answer}`
  })
}
