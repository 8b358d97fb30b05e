// The program as a child process: where input comes from, in which formats, and how failures are told.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseRunAgentInput, type Event } from '@millrace/protocol'
import { encodeFrame } from '@millrace/protocol/proto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bin, built, environment, millrace, root } from '../test/bin.ts'
import { findings, parseChecked } from '../test/checked.ts'
import { parseFolded } from '../test/folded.ts'

let folder = ''
beforeAll(async () => {
  await built()
  folder = await mkdtemp(join(tmpdir(), 'millrace-program-'))
}, 180_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

const start = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const end = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }
const odd = { type: 'CUSTOM', name: 'n', value: 1, extra: 1 }
const events = [start, odd, end]
const sse = (list: readonly unknown[]): string => list.map((item) => `data: ${JSON.stringify(item)}\n\n`).join('')
const har = (...entries: { mimeType: string; text: string; encoding?: string }[]): string =>
  JSON.stringify({
    log: { entries: entries.map((content) => ({ request: { method: 'POST', url: 'https://example.com/agent' }, response: { content } })) },
  })

interface Seen {
  request: IncomingMessage
  body: string
}

async function withServer(answer: (response: ServerResponse) => void, use: (url: string, seen: Seen[]) => Promise<void>): Promise<void> {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      seen.push({ request, body })
      answer(response)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`, seen)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

describe('formats', () => {
  it.each<[string, string, string, number | undefined]>([
    ['SSE', 'sse', sse(events), 3],
    ['SSE with CRLF and a BOM', 'sse', `\ufeff${sse(events).replaceAll('\n', '\r\n')}`, 3],
    ['NDJSON', 'ndjson', events.map((event) => `${JSON.stringify(event)}\n`).join(''), 2],
    ['NDJSON without a last line end', 'ndjson', events.map((event) => JSON.stringify(event)).join('\n'), 2],
    ['NDJSON envelopes', 'ndjson', events.map((chunk, id) => `${JSON.stringify({ id: String(id), chunk })}\n`).join(''), 2],
    ['a JSON array', 'json', JSON.stringify(events), 1],
    ['a JSON array over lines', 'json', JSON.stringify(events, null, 2), 7],
    ['an object with events', 'json', JSON.stringify({ name: 'x', events }, null, 2), 9],
    ['an object with a stream on one line', 'json', JSON.stringify({ stream: events, more: [1] }), 1],
    ['an array of envelopes', 'json', JSON.stringify(events.map((chunk, id) => ({ id, chunk }))), 1],
    ['HAR', 'har', har({ mimeType: 'text/event-stream', text: sse(events) }), 3],
    ['HAR in base64', 'har', har({ mimeType: 'text/event-stream', encoding: 'base64', text: Buffer.from(sse(events)).toString('base64') }), 3],
    ['[DONE] behind the end', 'sse', `${sse(events)}data: [DONE]\n\n`, 3],
  ])('%s', async (_name, format, input, line) => {
    const report = parseChecked(await millrace(['check', '--json', '-'], { input }))
    expect(report.format).toBe(format)
    expect(report.events).toBe(3)
    expect(report.runs).toEqual([{ threadId: 't', runId: 'r', outcome: 'finished' }])
    expect(findings(report).filter(({ severity }) => severity !== 'info')).toEqual([
      expect.objectContaining({ rule: 'event.unknown-field', event: 1, line, pointer: '/extra' }),
    ])
  })

  it('a capture of several streams: each judged by itself, indexes run on', async () => {
    const input = har(
      { mimeType: 'text/event-stream', text: sse([start]) },
      { mimeType: 'text/html', text: '<p>' },
      { mimeType: 'application/x-ndjson', text: [start, odd, end].map((event) => `${JSON.stringify(event)}\n`).join('') },
    )
    const report = parseChecked(await millrace(['check', '--json', '-'], { input }))
    expect(report.events).toBe(4)
    expect(report.runs.map(({ outcome }) => outcome)).toEqual(['truncated', 'finished'])
    expect(findings(report).map(({ rule, event }) => [rule, event])).toEqual([
      ['run.truncated', null],
      ['event.unknown-field', 2],
    ])
  })

  it('malformed frames are findings, and the check goes on', async () => {
    const input = `data: ${JSON.stringify(start)}\n\ndata: oops\n\ndata: [1]\n\ndata: {"no":"type"}\n\ndata: ${JSON.stringify(end)}\n\ndata: {"ty`
    const report = parseChecked(await millrace(['check', '--json', '-'], { input }))
    expect(findings(report).map(({ rule, event, line }) => [rule, event, line])).toEqual([
      ['frame.not-json', 1, 3],
      ['event.malformed', 2, 5],
      ['event.malformed', 3, 7],
      ['frame.truncated', 5, 11],
    ])
    expect(report.runs.map(({ outcome }) => outcome)).toEqual(['finished'])
  })

  it.each([
    ['a cut array', `[${JSON.stringify(start)},{"type":"RUN_FIN`, 1],
    ['an array without its end', `[${JSON.stringify(start)},${JSON.stringify(end)}\n`, 2],
  ])('%s is told as such', async (_name, input, at) => {
    const report = parseChecked(await millrace(['check', '--json', '-'], { input }))
    expect(findings(report)[0]).toMatchObject({ rule: 'frame.truncated', event: at })
  })

  it('--format overrules what the input looks like', async () => {
    const report = parseChecked(await millrace(['check', '--json', '--format', 'sse', '-'], { input: `${JSON.stringify(start)}\n${JSON.stringify(end)}\n` }))
    expect([report.format, report.events, findings(report)]).toEqual(['sse', 2, []])
    const prose = parseChecked(await millrace(['check', '--json', '--format', 'ndjson', '-'], { input: 'Dear reader\n' }))
    expect(findings(prose).map(({ rule }) => rule)).toEqual(['frame.not-json', 'run.empty'])
  })

  it.each(['', '\n\n', ': ping\n\n', '[]'])('no events: %j', async (input) => {
    const report = parseChecked(await millrace(['check', '--json', '-'], { input }))
    expect([report.events, findings(report).map(({ rule }) => rule)]).toEqual([0, ['run.empty']])
  })

  it('a frame without end does not fill the memory', async () => {
    const input = `data: ${JSON.stringify(start)}\n\ndata: "${'x'.repeat(17 * 1024 * 1024)}`
    const report = parseChecked(await millrace(['check', '--json', '-'], { input }))
    expect(findings(report).map(({ rule }) => rule)).toContain('frame.too-long')
  })
})

describe('protobuf', () => {
  const told: Event[] = [
    { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
    { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Grüezi' },
    { type: 'TEXT_MESSAGE_END', messageId: 'm' },
    { type: 'RUN_FINISHED', threadId: 't', runId: 'r' },
  ]
  const encoded = Buffer.concat(told.map((event) => encodeFrame(event)))

  it('a file, by its name or its content, is checked and folded', async () => {
    const named = join(folder, 'run.binpb')
    const unnamed = join(folder, 'run')
    for (const path of [named, unnamed]) await writeFile(path, encoded)
    for (const args of [[named], [unnamed], [unnamed, '--format', 'protobuf']]) {
      const report = parseChecked(await millrace(['check', '--json', ...args]))
      expect([report.format, report.events]).toEqual(['protobuf', 5])
      expect(report.runs).toEqual([{ threadId: 't', runId: 'r', outcome: 'finished' }])
      expect(report.summary).toMatchObject({ errors: 0, warnings: 0 })
      const folded = parseFolded(await millrace(['fold', '--json', ...args]))
      expect([folded.outcome, folded.messages]).toEqual(['finished', [{ id: 'm', role: 'assistant', content: 'Grüezi' }]])
    }
  })

  it('what is wrong with it is found, and the check goes on as far as there are frames', async () => {
    const nonsense = Buffer.from([0, 0, 0, 2, 255, 255])
    const input = Buffer.concat([encodeFrame(told[0] as Event), nonsense, encodeFrame(told[3] as Event), encoded.subarray(0, 7)])
    const report = parseChecked(await millrace(['check', '--json', '-'], { input }))
    expect(findings(report).filter(({ severity }) => severity === 'error').map(({ rule, event }) => [rule, event])).toEqual([
      ['frame.not-protobuf', 1],
      ['text.continue', 2],
      ['frame.truncated', 3],
      ['run.truncated', null],
    ])
  })

  it('text that is called protobuf is no frame', async () => {
    const { status, out } = await millrace(['check', '--json', '--format', 'protobuf', '-'], { input: 'Dear reader\n' })
    expect(JSON.parse(out)).toMatchObject({ format: 'protobuf', diagnostics: [{ rule: 'frame.too-long', event: 0 }, {}] })
    expect(status).toBe(1)
  })

  it('in a capture', async () => {
    const input = har({ mimeType: 'application/vnd.ag-ui.event+proto', encoding: 'base64', text: encoded.toString('base64') })
    const report = parseChecked(await millrace(['check', '--json', '-'], { input }))
    expect([report.format, report.events, report.runs.length]).toEqual(['har', 5, 1])
  })

  it('is asked for where it is insisted on, and known by its type', async () => {
    await withServer(
      (response) => {
        response.writeHead(200, { 'content-type': 'Application/vnd.ag-ui.event+proto; v=1' })
        // Cut within a length: only the type can tell what this is going to be.
        response.write(encoded.subarray(0, 2))
        setTimeout(() => response.end(encoded.subarray(2)), 50)
      },
      async (url, seen) => {
        for (const args of [[], ['--format', 'protobuf']]) {
          const report = parseChecked(await millrace(['check', '--json', url, ...args]))
          expect([report.format, report.events]).toEqual(['protobuf', 5])
        }
        expect(seen.map(({ request }) => request.headers.accept)).toEqual([
          expect.stringMatching(/^text\/event-stream(?!.*proto)/),
          'application/vnd.ag-ui.event+proto',
        ])
      },
    )
  })
})

describe('what is no input', () => {
  it.each<[string, string[], string | Uint8Array, string]>([
    ['a missing file', ['/no/such/file'], '', 'There is no file /no/such/file'],
    ['a folder', ['.'], '', 'is a folder'],
    ['prose', ['-'], 'Dear reader,\nthis is a letter.\n', 'no stream of events'],
    ['a web page', ['-'], '<!doctype html>', 'markup'],
    ['binary data', ['-'], new Uint8Array([0, 0, 0, 2, 255, 255]), 'is binary'],
    ['an object without events', ['-'], '{"name":"x","list":[]}', 'holds no events'],
    ['a capture without streams', ['-'], har({ mimeType: 'text/html', text: 'x' }), 'None of the 1 entries'],
    ['nothing named', [], '', "missing required argument 'INPUT'"],
    ['two things', ['a', 'b'], '', 'too many arguments'],
    ['an unknown format', ['-', '--format', 'xml'], '', 'Allowed choices are sse, ndjson, json, har, protobuf'],
    ['an unknown option', ['-', '--jsn'], '', 'Did you mean --json?'],
    ['a bad header', ['http://127.0.0.1:9/', '--header', 'oops'], '', 'not a header'],
  ])('%s: exit status 2, a sentence, no stack', async (_name, args, input, message) => {
    for (const command of ['check', 'fold']) {
      const { status, out, err } = await millrace([command, ...args], { input })
      expect([status, out]).toEqual([2, ''])
      expect(err).toContain(message)
      expect(err).toMatch(/^millrace: /)
      expect(err).not.toMatch(/^\s+at /m)
    }
  })

  it('shows where it failed if DEBUG is set', async () => {
    const { status, err } = await millrace(['check', '/no/such/file'], { env: { DEBUG: '1' } })
    expect(status).toBe(2)
    expect(err).toMatch(/^\s+at /m)
  })
})

describe('a URL', () => {
  it('is POSTed a run input', async () => {
    await withServer(
      (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(sse(events)),
      async (url, seen) => {
        const result = await millrace(['check', '--json', url, '--message', 'Hi', '--header', 'Authorization: Bearer x:y', '--header', 'X-A:1'])
        expect(parseChecked(result).events).toBe(3)
        const [{ request, body }] = seen as [Seen]
        expect([request.method, request.url]).toEqual(['POST', '/agent'])
        expect(request.headers).toMatchObject({ 'content-type': 'application/json', authorization: 'Bearer x:y', 'x-a': '1' })
        expect(request.headers.accept).toMatch(/^text\/event-stream/)
        const input = parseRunAgentInput(JSON.parse(body))
        expect(input).toMatchObject({ protocolVersion: '1.0', messages: [{ role: 'user', content: 'Hi' }] })
      },
    )
  })

  it('that answers NDJSON is read as that, and that breaks off is truncated', async () => {
    await withServer(
      (response) => {
        response.writeHead(200, { 'content-type': 'application/x-ndjson' })
        response.write(`${JSON.stringify(start)}\n`)
        setTimeout(() => response.destroy(), 50)
      },
      async (url) => {
        const { status, out, err } = await millrace(['check', '--json', url])
        expect(JSON.parse(out)).toMatchObject({ format: 'ndjson', runs: [{ outcome: 'truncated' }] })
        expect([status, err]).toEqual([1, expect.stringContaining('broke')])
      },
    )
  })

  it.each<[string, number, string, string, string]>([
    ['an error', 503, 'text/plain', 'overloaded \u001b[2J', 'answered 503'],
    ['a page', 200, 'text/html', '<!doctype html>', 'markup'],
  ])('that answers %s could not be checked', async (_name, code, type, body, message) => {
    await withServer(
      (response) => response.writeHead(code, { 'content-type': type }).end(body),
      async (url) => {
        const { status, out, err } = await millrace(['check', url])
        expect([status, out]).toEqual([2, ''])
        expect(err).toContain(message)
        expect(err).not.toContain('\u001b')
      },
    )
  })

  it('that nobody serves', async () => {
    const { status, err } = await millrace(['fold', 'http://127.0.0.1:9/'])
    expect(status).toBe(2)
    expect(err).toContain('cannot be reached')
  })

  it('Ctrl-C ends the request; what came is reported', async () => {
    await withServer(
      (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write(sse([start])),
      async (url, seen) => {
        const child = spawn(process.execPath, [bin, 'check', '--json', url], { cwd: root, env: environment() })
        let out = ''
        child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
        while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
        await new Promise((resolve) => setTimeout(resolve, 300))
        child.kill('SIGINT')
        const [status] = (await once(child, 'close')) as [number | null]
        expect(status).toBe(1)
        expect(JSON.parse(out)).toMatchObject({ events: 1, runs: [{ outcome: 'truncated' }] })
      },
    )
  })
})

describe('the program', () => {
  it('prints its version and help', async () => {
    const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
    expect(await millrace(['--version'])).toEqual({ status: 0, out: `${version}\n`, err: '' })
    const help = await millrace(['--help'])
    expect(help.status).toBe(0)
    for (const name of ['check', 'fold', 'chat', 'serve', 'Examples:']) expect(help.out).toContain(name)
    for (const name of ['check', 'fold', 'chat', 'serve']) {
      const { status, out } = await millrace([name, '--help'])
      expect([status, out.includes('Examples:')]).toEqual([0, true])
      expect((await millrace(['help', name])).out).toBe(out)
    }
  })

  it.each<[string[], string]>([
    [[], 'Usage: millrace'],
    [['chek'], 'Did you mean check?'],
    [['nonsense'], "unknown command 'nonsense'"],
    [['--nonsense'], "unknown option '--nonsense'"],
  ])('%j is no command: exit status 2', async (args, message) => {
    const { status, out, err } = await millrace(args)
    expect([status, out]).toEqual([2, ''])
    expect(err).toContain(message)
  })

  it.runIf(existsSync('/dev/full'))('output that cannot be written is work not done: exit status 2, a sentence', async () => {
    const full = await open('/dev/full', 'w')
    try {
      for (const args of [['check', '--json', '-'], ['fold', '-'], ['--help']]) {
        const child = spawn(process.execPath, [bin, ...args], { cwd: root, env: environment(), stdio: ['pipe', full.fd, 'pipe'] })
        let err = ''
        child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text))
        child.stdin?.end(sse(events))
        const [status] = (await once(child, 'close')) as [number | null]
        expect([status, err]).toEqual([2, expect.stringMatching(/^millrace: the output cannot be written: .*ENOSPC.*\n$/)])
      }
    } finally {
      await full.close()
    }
  })

  it('goes quietly when its reader does', async () => {
    const path = join(folder, 'many.ndjson')
    await writeFile(path, `${JSON.stringify(odd)}\n`.repeat(5_000))
    const child = spawn(process.execPath, [bin, 'check', path], { cwd: root, env: environment() })
    let err = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
    child.stdout.once('data', () => child.stdout.destroy())
    const [status] = (await once(child, 'close')) as [number | null]
    expect([status, err]).toEqual([1, ''])
  })
})
