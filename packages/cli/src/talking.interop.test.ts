// `millrace serve` and `millrace chat` as child processes, with each other and with an agent of one's own.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { bin, built, environment, millrace, root } from '../test/bin.ts'
import { findings, parseChecked } from '../test/checked.ts'
import { parseFolded } from '../test/folded.ts'

let folder = ''
beforeAll(async () => {
  await built()
  folder = await mkdtemp(join(tmpdir(), 'millrace-talking-'))
}, 180_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** A server on a free port, and the address it prints. */
async function serve(...args: string[]): Promise<{ child: ChildProcess; url: string; errors: () => string }> {
  const child = spawn(process.execPath, [bin, 'serve', '--port', '0', ...args], { cwd: root, env: environment() })
  children.push(child)
  let out = ''
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  child.stdout.setEncoding('utf8')
  for (;;) {
    const [text] = (await Promise.race([once(child.stdout, 'data'), once(child, 'close').then(() => Promise.reject(new Error(err)))])) as [string]
    out += text
    const url = /http:\S+/.exec(out)?.[0]
    if (url !== undefined && out.includes('Ctrl-C')) return { child, url, errors: () => err }
  }
}

const chat = (url: string, input: string, ...args: string[]): ReturnType<typeof millrace> => millrace(['chat', url, ...args], { input })

describe('the built-in agent', () => {
  it('gives streams without a finding, whatever it is asked', async () => {
    const { url } = await serve()
    for (const word of ['hello', 'help', 'think', 'tool', 'state', 'ask', 'fail', '']) {
      const report = parseChecked(await millrace(['check', '--json', url, '--message', word]))
      expect(findings(report), word).toEqual([])
      expect(report.runs[0]?.outcome).toBe(word === 'ask' ? 'interrupted' : word === 'fail' ? 'error' : 'finished')
    }
    const folded = parseFolded(await millrace(['fold', '--json', url, '--message', 'tool']))
    expect(folded.ui.map(({ parts }) => parts.map(({ type }) => type))).toEqual([['text', 'tool-call', 'text']])
  })

  it('talks with chat over a pipe: each line a message, an answer where one is asked for', async () => {
    const { url } = await serve()
    const { status, out, err } = await chat(url, 'hi\r\n\ntool\nask\nmaybe\ny\nstate\n/state\n/help\n/what\n/clear\n/reload\n')
    expect(out.split('\n')).toEqual(
      expect.arrayContaining([
        'You said: hi',
        '⚙ getWeather({"city":"Zürich","unit":"celsius"})',
        '  → {"city":"Zürich","degrees":4}',
        '? Delete notes.txt? (y or n, JSON or a text; empty to cancel)',
        '✖ "" has to be of type object',
        'Your answer was {"approved":true}.',
        '◆ state /count = 3',
        '  "count": 3,',
        'There is no command /what.',
        'a new conversation',
      ]),
    )
    expect(out).not.toContain('\u001b')
    expect(err).toBe('')
    // Nothing to reload is a turn that failed, which a script should learn of.
    expect(status).toBe(1)
  })

  it('chat over NDJSON, in a thread', async () => {
    const { url } = await serve()
    expect(await chat(url, 'hi\n', '--format', 'ndjson', '--thread', 'mine')).toEqual({ status: 0, out: 'You said: hi\n', err: '' })
    const thread = (await (await fetch(`${url}?threadId=mine`)).json()) as { messages: unknown[] }
    expect(thread.messages).toHaveLength(2)
  })

  it('a run that fails is told, and the next one goes on', async () => {
    const { url } = await serve()
    const { status, out } = await chat(url, 'fail\nhi\n')
    expect(out).toBe('This is going to fail.\n✖ The run failed, as you asked.\nYou said: hi\n')
    expect(status).toBe(1)
  })

  it('Ctrl-C stops the answer, then leaves', async () => {
    const { url } = await serve()
    const child = spawn(process.execPath, [bin, 'chat', url], { cwd: root, env: environment() })
    children.push(child)
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    const until = async (text: string): Promise<void> => {
      while (!out.includes(text)) await once(child.stdout, 'data')
    }
    child.stdin.write('long\n')
    await until('All work')
    child.kill('SIGINT')
    await until('■ stopped')
    child.stdin.write('hi\n')
    await until('You said: hi')
    // The first may still meet the answer; the next one leaves. Far apart: one that meets the process as it ends kills it.
    child.kill('SIGINT')
    const again = setInterval(() => child.kill('SIGINT'), 3_000)
    expect(await once(child, 'close')).toEqual([130, null])
    clearInterval(again)
  })
})

describe('serve', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('ends on %s with status 0, in the middle of a run too', async (signal) => {
    const { child, url } = await serve()
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ threadId: 't', runId: 'r', messages: [{ id: 'u', role: 'user', content: 'long' }] }),
    })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    child.kill(signal)
    let rest = ''
    for (let next = await reader.read(); !next.done; next = await reader.read()) rest += new TextDecoder().decode(next.value)
    expect(rest).toContain('"type":"RUN_FINISHED"')
    expect(rest).toContain('cancelled')
    expect(child.exitCode ?? (await once(child, 'close'))[0]).toBe(0)
  })

  it('an agent of one’s own', async () => {
    const agent = join(folder, 'agent.mjs')
    await writeFile(agent, 'export default async (input, run) => { await run.text("mine: " + input.messages.length) }\n')
    const { url } = await serve('--agent', agent)
    expect((await chat(url, 'hi\nhi\n')).out).toBe('mine: 1\nmine: 3\n')
  })

  it('tells what an agent throws to its operator, not to the client', async () => {
    const agent = join(folder, 'throws.mjs')
    await writeFile(agent, 'export default async () => { throw new Error("the password is 1234") }\n')
    const { url, errors } = await serve('--agent', agent)
    const { out } = await chat(url, 'hi\n')
    expect(out).toContain('✖')
    expect(out).not.toContain('1234')
    expect(errors()).toContain('1234')
  })

  it('stays up, and says so, when the agent fails outside of a run', async () => {
    const agent = join(folder, 'strays.mjs')
    await writeFile(
      agent,
      `export default async (input, run) => {
  setTimeout(() => { throw new Error('a timer threw') }, 1)
  void Promise.reject(new Error('a promise was forgotten'))
  await run.text('fine')
}\n`,
    )
    const { child, url, errors } = await serve('--agent', agent)
    expect((await chat(url, 'hi\n')).out).toBe('fine\n')
    await expect.poll(errors).toMatch(/The agent threw outside of any run; the server stays up: a timer threw/)
    expect(errors()).toMatch(/A promise of the agent was rejected outside of any run; the server stays up: a promise was forgotten/)
    expect((await chat(url, 'hi\n')).out).toBe('fine\n')
    expect(child.exitCode).toBe(null)
  })

  it.each<[string, string | undefined, string]>([
    ['missing.mjs', undefined, 'There is no file'],
    ['broken.mjs', 'export default (', 'could not be loaded'],
    ['named.mjs', 'export const agent = () => {}', 'has no agent as its default export'],
    ['typed.ts', 'export default (x: number) => x', 'Compile it to JavaScript first'],
  ])('%s is no agent', async (name, content, message) => {
    const path = join(folder, name)
    if (content !== undefined) await writeFile(path, content)
    const { status, out, err } = await millrace(['serve', '--port', '0', '--agent', path])
    expect([status, out]).toEqual([2, ''])
    expect(err).toContain(message)
  })

  it('a port that is taken, and one that does not exist', async () => {
    const { url } = await serve()
    const taken = await millrace(['serve', '--port', new URL(url).port])
    expect([taken.status, taken.err]).toEqual([2, expect.stringContaining('is taken')])
    expect((await millrace(['serve', '--port', '70000'])).status).toBe(2)
  })
})

describe('chat', () => {
  it.each([
    ['http://127.0.0.1:9/', 'bad port'],
    ['http://127.0.0.1:2/', 'ECONNREFUSED'],
    ['http://no-such-host.invalid/', /ENOTFOUND|EAI_AGAIN/],
  ])('%s cannot be talked to, which is told with its cause', async (url, why) => {
    const { status, out } = await chat(url, 'hi\n')
    expect([status, out]).toEqual([1, expect.stringContaining(`✖ The request to ${url} failed`)])
    expect(out).toMatch(why)
  })

  it('a pipe that ends where the agent waits for an answer is a failure, told on stderr', async () => {
    const { url } = await serve()
    const { status, out, err } = await chat(url, 'ask\n')
    expect(out).toContain('? Delete notes.txt?')
    expect([status, err]).toEqual([1, 'millrace: the input ended before the agent had its answer: Delete notes.txt?\n'])
  })

  it('needs an address', async () => {
    const { status, err } = await chat('localhost', 'hi\n')
    expect([status, err]).toEqual([2, expect.stringContaining('is no address')])
  })
})
