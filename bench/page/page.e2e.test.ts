/** The page on each client, small: each arrives at the whole answer, and a delta renders no message but its own. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chromeArgs, findChrome } from '../../tools/find-chrome.mjs'
import { CLIENTS, planOf, queryOf, type ListKind, type Plan } from './plan.ts'
import { samplePage, type SampleOptions } from './sample.ts'
import { servePage } from './server.ts'

const builder = fileURLToPath(new URL('../../tools/build.mjs', import.meta.url))
const page = fileURLToPath(new URL('./dist/', import.meta.url))

let options: SampleOptions

beforeAll(async () => {
  // In a process of its own: building sets NODE_ENV, which is Vitest's here.
  const { status, stdout, stderr } = spawnSync(process.execPath, [builder, 'bench-page'], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the build failed\n${stdout}${stderr}`)
  const executablePath = findChrome()
  if (executablePath === undefined) throw new Error('no Chrome or Chromium found')
  options = { server: await servePage(page), launch: { executablePath, args: chromeArgs() }, capMs: 40_000 }
})
afterAll(() => options?.server.close())

const MESSAGES = 60
const planned = (client: Plan['client'], list: ListKind): Plan => ({ client, list, messages: MESSAGES, deltas: 40, pace: 200 })

it.each(CLIENTS.flatMap((client) => (['windowed', 'whole'] as const).map((list) => [client, list] as const)))('%s answers in a %s list', async (client, list) => {
  const sample = await samplePage(planned(client, list), options)
  // That the answer is the right one is checked there. It comes in more than one commit, the question before it.
  expect(sample?.commits).toBeGreaterThan(3)
  expect(sample?.busy.ms).toBeGreaterThan(0)
  if (list === 'windowed') expect(sample?.rows).toBeLessThan(MESSAGES + (sample?.commits ?? 0))
  // All rows are there: what is rendered is what changed, one at a time.
  else expect(sample?.rows).toBeLessThanOrEqual(sample?.commits ?? 0)
})

it('refuses a request without the whole history', async () => {
  const ask = async (questions: number): Promise<number> => {
    const messages = Array.from({ length: questions }, (_, index) => ({ id: `${index}`, role: 'user', content: '' }))
    const address = new URL(`/agent?${queryOf({ ...planned('millrace', 'whole'), deltas: 1 })}`, options.server.url)
    return (await fetch(address, { method: 'POST', body: JSON.stringify({ messages }) })).status
  }
  expect(await ask(MESSAGES / 2)).toBe(400)
  expect(await ask(MESSAGES / 2 + 1)).toBe(200)
})

it('tells a plan by the query of an address, and refuses one that is none', () => {
  const plan = planned('ai', 'whole')
  expect(planOf(new URLSearchParams(queryOf(plan)))).toEqual(plan)
  expect(() => planOf(new URLSearchParams('client=nobody&list=whole'))).toThrow('nobody')
  expect(() => planOf(new URLSearchParams('client=ai&list=long'))).toThrow('long')
})
