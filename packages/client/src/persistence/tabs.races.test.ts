/** What the model of tabs has found: things that happen between a save, its news and a claim. */
import { expect, it } from 'vitest'
import { callId, linesOf, type Kind } from '../../test/model-runs.ts'
import { Browser, type Agreement, type Tab } from '../../test/model-tabs.ts'

async function turns(count = 6): Promise<void> {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve))
}

async function opened(agreement: Agreement, count = 2): Promise<{ browser: Browser; tabs: [Tab, Tab, ...Tab[]] }> {
  const browser = new Browser(agreement)
  const tabs = Array.from({ length: count }, () => attached(browser)) as [Tab, Tab, ...Tab[]]
  await turns()
  return { browser, tabs }
}

function attached(browser: Browser): Tab {
  const tab = browser.openTab()
  void tab.chat.attach()
  return tab
}

let sends = 0
const send = ({ chat }: Tab, id: string, ...kinds: Kind[]): void => void chat.sendMessage({ content: 'x', id }, { body: { plan: { n: sends++, kinds } } })
const lines = ({ chat }: Tab): string[] => linesOf(chat.getSnapshot().messages)

/** All that is to come comes, however long it takes. */
async function rest(browser: Browser): Promise<void> {
  for (let n = 0; n < 5; n++) {
    browser.world.release(100)
    browser.world.finishTools()
    await turns()
    browser.wait(600)
    await turns()
  }
}

it.each<Agreement>(['locks', 'channel'])('what two tabs say at the same moment is kept, though each stores over the other (%s)', async (agreement) => {
  const { browser, tabs } = await opened(agreement)
  const [a, b] = tabs
  send(a, 'u0', 'text')
  send(b, 'u1', 'text')
  await rest(browser)
  expect(lines(a)).toEqual(lines(b))
  expect([...lines(a)].sort()).toEqual([`text ${browser.world.runs[0]?.runId} abc`, `text ${browser.world.runs[1]?.runId} abc`, 'user u0 x', 'user u1 x'])
  expect(browser.world.runs).toHaveLength(2)
})

it('an answer stays behind its call when two tabs have said something at the same moment', async () => {
  const { browser, tabs } = await opened('channel')
  const [a, b] = tabs
  send(a, 'u0', 'auto-and-asks')
  await turns(1)
  browser.world.release(1)
  await turns()
  browser.wait(150)
  await turns()
  browser.world.release(7)
  await turns(4)
  // It does not show the answer yet.
  send(b, 'u1', 'text')
  await rest(browser)
  const call = browser.world.runs[0]?.runId ?? ''
  for (const tab of [a, b]) expect(lines(tab).slice(0, 3)).toEqual(['user u0 x', `call ${callId(call, 0)} auto`, `call ${callId(call, 1)} The user said something else instead.`])
})

it('a tab that was frozen shows a run whose tab is gone', async () => {
  const { browser, tabs } = await opened('locks')
  const [a, b] = tabs
  a.freeze()
  send(b, 'u0', 'text')
  await turns()
  b.chat.setState({ more: 'news' })
  browser.closeTab(b, 'closed')
  await turns()
  a.comeBack()
  await turns()
  void a.chat.attach()
  await rest(browser)
  expect(lines(a)).toEqual(['user u0 x', `text ${browser.world.runs[0]?.runId} abc`])
})

it('a tool runs in another tab, though the one that asked for it was gone before its claim could be heard', async () => {
  const { browser, tabs } = await opened('channel')
  const [a, b] = tabs
  send(b, 'u0', 'slow')
  await turns()
  browser.world.release(1)
  await turns()
  browser.closeTab(b, 'closed')
  await rest(browser)
  expect(lines(a)[1]).toBe(`call ${callId(browser.world.runs[0]?.runId ?? '', 0)} slow`)
  expect(browser.world.executed).toHaveLength(1)
})

it.each<Agreement>(['locks', 'channel'])('a tool that another tab took over is known as begun: it does not run a second time (%s)', async (agreement) => {
  const { browser, tabs } = await opened(agreement)
  const [a, b] = tabs
  send(b, 'u0', 'slow')
  await turns()
  browser.world.release(1)
  await turns()
  browser.closeTab(b, 'closed')
  browser.world.release(100)
  await turns()
  for (let n = 0; n < 3; n++) {
    browser.wait(150)
    await turns()
  }
  expect(browser.world.executed).toHaveLength(1)
  browser.closeTab(a, 'crashed')
  const next = attached(browser)
  await rest(browser)
  expect(browser.world.executed).toHaveLength(1)
  expect(lines(next)[1]).toContain('The page was left while it ran.')
})

it('what is done in a tab after a run that it was told of, and never read, is stored', async () => {
  const { browser, tabs } = await opened('locks')
  const [a, b] = tabs
  send(a, 'u0', 'asks')
  await turns(1)
  browser.world.release(100)
  await turns()
  send(a, 'u1', 'text')
  await turns(1)
  browser.world.release(100)
  await rest(browser)
  await b.chat.addToolResult({ toolCallId: callId(browser.world.runs[0]?.runId ?? '', 0), output: 'yes' })
  await rest(browser)
  for (const tab of [a, b]) expect(lines(tab)[1]).toBe(`call ${callId(browser.world.runs[0]?.runId ?? '', 0)} yes`)
})

it('an answer that is given while a run waits to be joined does not ask for what was said a second time', async () => {
  const { browser, tabs } = await opened('locks')
  const [a, b] = tabs
  send(a, 'u0', 'asks')
  await turns(1)
  browser.world.release(100)
  await turns()
  send(a, 'u1', 'text')
  await turns()
  browser.closeTab(a, 'closed')
  await turns()
  await b.chat.addToolResult({ toolCallId: callId(browser.world.runs[0]?.runId ?? '', 0), output: 'yes' })
  await turns()
  expect(browser.world.runs).toHaveLength(2)
  void b.chat.attach()
  await rest(browser)
  expect(lines(b).at(-1)).toBe(`text ${browser.world.runs[1]?.runId} abc`)
})

it('a storage that lags behind the news of it is looked at again', async () => {
  const { browser, tabs } = await opened('locks')
  const [a, b] = tabs
  send(a, 'u0', 'text')
  await turns()
  // What was stored before anything was heard of the run is what b finds for a while.
  b.lag(true, await browser.disk.load('t'))
  browser.world.release(3)
  await turns()
  expect(lines(b)).toEqual(['user u0 x'])
  b.lag(false)
  browser.wait(100)
  await turns()
  expect(lines(b)).toEqual(['user u0 x', `text ${browser.world.runs[0]?.runId} a`])
})

it.each<Agreement>(['locks', 'channel'])('what a tab stores before it hears that all was removed does not come back (%s)', async (agreement) => {
  const { browser, tabs } = await opened(agreement)
  const [a, b] = tabs
  send(b, 'u0', 'text')
  await turns()
  // Ends the run at the server: that b stores, before the news.
  a.chat.clear()
  await rest(browser)
  for (const tab of [a, b]) expect(lines(tab)).toEqual([])
  expect(await browser.disk.load('t')).toBeUndefined()
})

it('what was said in the tab that removed all stays, though another one stored what was there before', async () => {
  const { browser, tabs } = await opened('locks')
  const [a, b] = tabs
  send(b, 'u0', 'text')
  await turns()
  a.chat.clear()
  send(a, 'u1', 'text')
  await rest(browser)
  for (const tab of [a, b]) expect(lines(tab)).toContain('user u1 x')
  expect(lines(a)).toEqual(lines(b))
})

it('what is being read while all is removed does not come back', async () => {
  const { browser, tabs } = await opened('locks')
  const [a, b] = tabs
  send(a, 'u0', 'text')
  await turns(1)
  browser.world.release(100)
  await turns(1)
  send(b, 'u1', 'text')
  // Now b knows that it is behind, and looks what there is when nothing runs any more.
  await turns(1)
  b.chat.clear()
  await rest(browser)
  for (const tab of [a, b]) expect(lines(tab)).toEqual([])
  expect(await browser.disk.load('t')).toBeUndefined()
})

it('a tab that removed all stores how a run ends that another one began since, and left', async () => {
  const { browser, tabs } = await opened('locks')
  const [a, b] = tabs
  a.chat.clear()
  await turns()
  send(b, 'u0', 'text')
  await turns()
  browser.world.release(3)
  await turns()
  browser.closeTab(b, 'crashed')
  await rest(browser)
  expect(lines(a)).toEqual(['user u0 x', `text ${browser.world.runs[0]?.runId} abc`])
  browser.closeTab(a, 'crashed')
  const next = attached(browser)
  await rest(browser)
  expect(lines(next)).toEqual(lines(a))
})

it('what was said is kept though it was stopped before anything came of it, and another tab stored over it', async () => {
  const { browser, tabs } = await opened('locks')
  const [a, b] = tabs
  send(b, 'u0', 'text')
  await turns()
  send(a, 'u1', 'text')
  await turns()
  a.chat.stop()
  await rest(browser)
  for (const tab of [a, b]) expect(lines(tab)).toEqual(['user u0 x', `text ${browser.world.runs[0]?.runId} abc`, 'user u1 x'])
})

it('a tool is not run that was stopped while the tab asked whether it may', async () => {
  const { browser, tabs } = await opened('channel')
  const [a] = tabs
  send(a, 'u0', 'slow')
  await turns()
  browser.world.release(1)
  await turns(4)
  browser.world.release(100)
  await turns()
  a.chat.stop()
  await rest(browser)
  expect(browser.world.executed).toEqual([])
  for (const tab of tabs) expect(lines(tab)[1]).toBe(`call ${callId(browser.world.runs[0]?.runId ?? '', 0)} The user stopped it.`)
})
