/** Every contender arrives at the answer over a real connection, in each way in which it is measured, and sends the history along. */
import { afterEach, describe, expect, it } from 'vitest'
import { GROUPS, type Column, type Table } from '../groups.ts'
import { serveCut } from '../serving/cut-server.ts'
import type { Server } from '../serving/listen.ts'
import { serveStream } from '../serving/stream-server.ts'
import { answered } from '../workloads/text.ts'
import { CONTENDERS, type ContenderName } from './all.ts'
import { expectedOfConnection, type ConnectionJob } from './connection.ts'
import type { Outcome } from './contender.ts'

const servers: Server[] = []
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())))

/** As the process of a server does it. */
async function serve(stream: ConnectionJob['stream'], { cuts }: Table, { breaks }: Column): Promise<string> {
  const server = await (breaks === undefined ? serveStream(stream, cuts) : serveCut(stream, breaks))
  servers.push(server)
  return server.url
}

async function play(job: ConnectionJob, name: ContenderName): Promise<Outcome> {
  const connect = await CONTENDERS[name].connect?.()
  if (connect === undefined) throw new Error(`${name} has no connection`)
  return (await connect(job)()())()
}

const connected = Object.values(GROUPS).flat().filter(({ entry }) => entry === 'connection')
const cases = connected.flatMap((table) => {
  // Columns that differ in size only are one here.
  const differing = table.columns.filter(({ breaks }, index) => index === 0 || breaks !== table.columns[index - 1]?.breaks)
  return table.contenders.flatMap((name) => differing.map((column) => ({ table, column, name })))
})

describe('over HTTP', () => {
  it.each(cases)('$table.title, $column.head: $name', async ({ table, column, name }) => {
    const stream = answered(60, 5).make()
    const { breaks } = column
    const job: ConnectionJob = { stream, url: await serve(stream, table, column), ...(breaks !== undefined && { breaks }) }
    const { lacks = [] } = CONTENDERS[name]
    const wanted = Object.fromEntries(Object.entries(expectedOfConnection(job)).filter(([part]) => !lacks.includes(part as keyof Outcome)))
    expect(wanted.text).toContain('Which way')
    expect(await play(job, name)).toMatchObject(wanted)
  })

  it('refuses who leaves the history out', async () => {
    const { url, close } = await serveStream(answered(3, 2).make(), 'large')
    const ask = (messages: readonly object[]): Promise<Response> => fetch(url, { method: 'POST', body: JSON.stringify({ messages, threadId: 't', runId: 'r' }) })
    expect((await ask([{}])).status).toBe(400)
    const answer = await ask([{}, {}, {}])
    expect(await answer.text()).toContain('"threadId":"t","runId":"r"')
    await close()
  })

  it('cuts a run as often as it is told, and then not again', async () => {
    const { url, close } = await serveCut(answered(16).make(), 1)
    const body = JSON.stringify({ messages: [{}], threadId: 't', runId: 'r' })
    const first = await fetch(url, { method: 'POST', body })
    await expect(first.text()).rejects.toThrow()
    const rest = await (await fetch(`${url}?runId=r&offset=10`)).text()
    expect(rest.startsWith('id: 11\n')).toBe(true)
    expect(rest).toContain('RUN_FINISHED')
    await close()
  })
})
