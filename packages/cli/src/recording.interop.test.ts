// `millrace record` and `millrace replay` as child processes, with `serve`, `chat`, `check` and `fold` at their ends.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { bin, built, environment, millrace, root } from '../test/bin.ts'
import { findings, parseChecked } from '../test/checked.ts'
import { parseFolded } from '../test/folded.ts'

let folder = ''
beforeAll(async () => {
  await built()
  folder = await mkdtemp(join(tmpdir(), 'millrace-recording-'))
}, 180_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** A command that serves on a free port, and the address it prints. */
async function start(...args: string[]): Promise<{ child: ChildProcess; url: string; out: () => string }> {
  const child = spawn(process.execPath, [bin, ...args, '--port', '0'], { cwd: root, env: environment() })
  children.push(child)
  let out = ''
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  for (;;) {
    await Promise.race([once(child.stdout, 'data'), once(child, 'close').then(() => Promise.reject(new Error(err)))])
    const url = /http:\S+/.exec(out)?.[0]
    if (url !== undefined && out.includes('Ctrl-C')) return { child, url, out: () => out }
  }
}

describe('record', () => {
  it('writes one exchange, which check and fold read', async () => {
    const { url } = await start('serve')
    const file = join(folder, 'think.ndjson')
    const { status, out, err } = await millrace(['record', url, '-o', file, '--message', 'think', '--header', 'x-secret: 1234'])
    expect([status, err]).toEqual([0, ''])
    expect(out).toMatch(/think\.ndjson: \d+ events, finished\n$/)
    expect(await readFile(file, 'utf8')).not.toContain('1234')
    const report = parseChecked(await millrace(['check', '--json', file]))
    expect([report.format, findings(report), report.runs.map(({ outcome }) => outcome)]).toEqual(['recording', [], ['finished']])
    const folded = parseFolded(await millrace(['fold', '--json', file]))
    expect(folded.ui.map(({ role, parts }) => [role, parts.map(({ type }) => type)])).toEqual([['user', ['text']], ['assistant', ['thinking', 'text']]])
    expect((await millrace(['check', '--json', file, '--format', 'recording'])).status).toBe(0)
  })

  it('tells how it went: in JSON, and by its status', async () => {
    const { url } = await start('serve')
    const file = join(folder, 'fail.ndjson')
    const { status, out } = await millrace(['record', url, '-o', file, '--message', 'fail', '--thread', 'mine', '--json'])
    expect([status, JSON.parse(out)]).toEqual([
      1,
      { file, outcome: 'error', events: expect.any(Number), threadId: 'mine', runs: [{ runId: expect.any(String), outcome: 'error' }], error: { message: 'The run failed, as you asked.' } },
    ])
  })

  it.each([
    [['record', 'localhost', '-o', 'x'], 'is no address'],
    [['record', 'http://127.0.0.1:2/', '-o', '/dev/null'], 'ECONNREFUSED'],
    [['record', 'http://127.0.0.1:2/', '-o', '/no/such/folder/x'], 'cannot be written'],
    [['record', 'http://127.0.0.1:2/'], "'-o, --output <FILE>' not specified"],
  ])('%j cannot be done', async (args, why) => {
    const { status, out, err } = await millrace(args)
    expect([status, out]).toEqual([2, ''])
    expect(err).toContain(why)
  })

  it('a whole chat is recorded by chat, and folds to all of it', async () => {
    const { url } = await start('serve')
    const file = join(folder, 'chat.ndjson')
    expect((await millrace(['chat', url, '--record', file], { input: 'tool\nask\ny\nstate\n' })).status).toBe(0)
    const report = parseChecked(await millrace(['check', '--json', file]))
    expect([findings(report), report.runs.map(({ outcome }) => outcome)]).toEqual([[], ['finished', 'interrupted', 'finished', 'finished']])
    const folded = parseFolded(await millrace(['fold', '--json', file]))
    expect(folded.state).toEqual({ count: 3, items: ['one', 'two', 'three'] })
    expect(folded.ui.filter(({ role }) => role === 'user')).toHaveLength(3)
  })
})

describe('replay', () => {
  it('is talked to as the agent was, and says what it does', async () => {
    const { url } = await start('serve')
    const file = join(folder, 'two.ndjson')
    const first = await millrace(['chat', url, '--record', file], { input: 'tool\nhi\n' })
    const { child, url: again, out } = await start('replay', file, '--fast')
    expect((await millrace(['chat', again], { input: 'tool\nhi\n' })).out).toBe(first.out)
    expect(out()).toContain('(2 runs, as fast as it is read)')
    expect(out()).toMatch(/run 1 of 2 \S+: \d+ events\nrun 2 of 2/)
    child.kill('SIGTERM')
    expect(child.exitCode ?? (await once(child, 'close'))[0]).toBe(0)
  })

  it.each([
    [['replay', 'no-such-file'], 'There is no file'],
    [['replay', 'https://example.com/agent'], 'Record it first'],
    [['replay', '/dev/null'], 'holds no runs'],
    [['replay', 'package.json'], 'cannot be replayed'],
    [['replay', 'x', '--speed', '0'], 'not a number above 0'],
    [['replay', 'x', '--speed', '2', '--fast'], 'cannot be used with'],
  ])('%j cannot be done', async (args, why) => {
    const { status, out, err } = await millrace(args)
    expect([status, out]).toEqual([2, ''])
    expect(err).toContain(why)
  })
})
