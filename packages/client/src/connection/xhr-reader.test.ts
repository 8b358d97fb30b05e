import { readXhrLines, StreamTruncatedError } from '@millrace/client'
import { describe, expect, it } from 'vitest'
import { caught, collect, collectUntilError, tick, until } from '../../test/events.ts'
import { nodeXhr, plainNodeXhr } from '../../test/node-xhr.ts'
import { answerWith, serve } from '../../test/serve.ts'
import { XhrReader } from './xhr-reader.ts'

/** A request that a test moves from state to state. */
function fake() {
  const listeners = new Map<string, Set<() => void>>()
  let aborts = 0
  const xhr = {
    readyState: 1,
    status: 0,
    responseText: '',
    responseType: '',
    addEventListener: (type: string, listener: () => void) => void (listeners.get(type) ?? listeners.set(type, new Set()).get(type))?.add(listener),
    removeEventListener: (type: string, listener: () => void) => void listeners.get(type)?.delete(listener),
    abort: () => void aborts++,
  }
  const fire = (type: string): void => listeners.get(type)?.forEach((listener) => listener())
  return {
    xhr: xhr as unknown as XMLHttpRequest,
    fire,
    grow(text: string, type = 'progress') {
      Object.assign(xhr, { readyState: 3, status: 200, responseText: xhr.responseText + text })
      fire(type)
    },
    end(type: string, fields: object = {}) {
      Object.assign(xhr, { readyState: 4 }, fields)
      fire('readystatechange')
      fire(type)
    },
    aborts: () => aborts,
    listening: () => [...listeners.values()].reduce((sum, { size }) => sum + size, 0),
  }
}

describe.each([
  ['listeners', nodeXhr],
  ['handlers as properties', plainNodeXhr],
])('readXhrLines over a request with %s', (_, make) => {
  it('gives lines while they arrive', async () => {
    let go: () => void = () => {}
    const server = await serve(async (response) => {
      response.writeHead(200)
      response.write('one\ntw')
      await new Promise<void>((resolve) => {
        go = resolve
      })
      response.end('o\n\nthré\u{1F600}e\n')
    })
    const xhr = make()
    const lines = readXhrLines(xhr)
    xhr.open('POST', server.url)
    xhr.send()
    expect(await lines.next()).toEqual({ done: false, value: 'one' })
    go()
    expect(await collect(lines)).toEqual(['two', 'thré\u{1F600}e'])
  })

  it('gives a text that stops inside a line as truncated, after the lines before it', async () => {
    const server = await serve(answerWith('one\ntwo'))
    const xhr = make()
    const lines = readXhrLines(xhr)
    xhr.open('POST', server.url)
    xhr.send()
    const { items, error } = await collectUntilError(lines)
    expect(items).toEqual(['one'])
    expect(error).toBeInstanceOf(StreamTruncatedError)
  })

  it('keeps what came before the connection broke, though the request forgets it', async () => {
    const server = await serve(async (response) => {
      response.writeHead(200)
      response.write('one\ntwo\n')
      await tick(20)
      response.destroy()
    })
    const xhr = make()
    const lines = readXhrLines(xhr)
    xhr.open('POST', server.url)
    xhr.send()
    await until(() => xhr.readyState === 4)
    expect(xhr.responseText).toBe('')
    const { items, error } = await collectUntilError(lines)
    expect(items).toEqual(['one', 'two'])
    expect(error).toMatchObject({ code: 'truncated' })
  })

  it('ends quietly on abort and closes the connection', async () => {
    const server = await serve((response) => {
      response.writeHead(200)
      response.write('one\nhalf')
    })
    const controller = new AbortController()
    const xhr = make()
    const lines = readXhrLines(xhr, controller.signal)
    xhr.open('POST', server.url)
    xhr.send()
    const seen: string[] = []
    for await (const line of lines) {
      seen.push(line)
      controller.abort()
    }
    expect(seen).toEqual(['one'])
    await until(() => server.cut() === 1)
  })
})

describe('XhrReader', () => {
  it('reads only what is new, at progress as at state changes', async () => {
    const { xhr, grow, end } = fake()
    const reader = new XhrReader(xhr)
    grow('ab')
    expect(await reader.read()).toEqual({ done: false, value: 'ab' })
    grow('', 'readystatechange')
    grow('cd', 'readystatechange')
    grow('ef')
    expect([await reader.read(), await reader.read()].map(({ value }) => value)).toEqual(['cd', 'ef'])
    grow('gh', 'none')
    end('load')
    expect(await reader.read()).toEqual({ done: false, value: 'gh' })
    expect(await reader.read()).toEqual({ done: true })
    expect(await reader.read()).toEqual({ done: true })
  })

  it.each(['load', 'error', 'timeout', 'abort'])('leaves no listener after %s', async (how) => {
    const { xhr, end, listening } = fake()
    const reader = new XhrReader(xhr)
    expect(listening()).toBeGreaterThan(0)
    end(how)
    expect(listening()).toBe(0)
    const { error } = { error: await caught(() => reader.read()) }
    expect(error instanceof Error).toBe(how !== 'load')
  })

  it('leaves no listener after cancel, aborts once, and wakes who waits', async () => {
    const { xhr, grow, listening, aborts } = fake()
    const reader = new XhrReader(xhr)
    grow('unread')
    await reader.read()
    const waiting = reader.read()
    await reader.cancel()
    await reader.cancel()
    expect(await waiting).toEqual({ done: true })
    expect([listening(), aborts()]).toEqual([0, 1])
  })

  it('does not abort a request that is over', async () => {
    const { xhr, end, aborts } = fake()
    const reader = new XhrReader(xhr)
    end('load')
    await reader.cancel()
    expect(aborts()).toBe(0)
  })

  it('puts handlers that were there before back, and calls them meanwhile', async () => {
    const xhr = plainNodeXhr()
    const calls: string[] = []
    const mine = (event: ProgressEvent): void => void calls.push(event.type)
    xhr.onload = mine
    const server = await serve(answerWith('x\n'))
    const lines = readXhrLines(xhr)
    xhr.open('GET', server.url)
    xhr.send()
    expect(await collect(lines)).toEqual(['x'])
    expect(calls).toEqual(['load'])
    expect(xhr.onload).toBe(mine)
  })

  it('past maxResponseLength aborts, gives what came, and says what to use instead', async () => {
    const { xhr, grow, aborts, listening } = fake()
    const reader = new XhrReader(xhr, { maxResponseLength: 4 })
    grow('abcd')
    expect(aborts()).toBe(0)
    grow('e')
    expect([aborts(), listening()]).toEqual([1, 0])
    expect([await reader.read(), await reader.read()].map(({ value }) => value)).toEqual(['abcd', 'e'])
    const error = await caught(() => reader.read())
    expect(error).toBeInstanceOf(StreamTruncatedError)
    expect(error.message).toMatch(/maxResponseLength.*fetch/)
  })

  it('takes over a request that is under way or over', async () => {
    const under = fake()
    under.grow('early')
    expect(await new XhrReader(under.xhr).read()).toEqual({ done: false, value: 'early' })
    const over = fake()
    over.grow('all')
    over.end('load')
    const reader = new XhrReader(over.xhr)
    expect([await reader.read(), await reader.read()]).toEqual([{ done: false, value: 'all' }, { done: true }])
    const failed = fake()
    failed.end('error')
    expect(await caught(() => new XhrReader(failed.xhr).read())).toBeInstanceOf(Error)
  })

  it('says when there is an answer, and why there is none', async () => {
    const good = fake()
    const reader = new XhrReader(good.xhr)
    Object.assign(good.xhr, { readyState: 2, status: 404 })
    good.fire('readystatechange')
    expect(await reader.answered).toMatchObject({ status: 404, url: '' })
    const bad = fake()
    const failing = new XhrReader(bad.xhr)
    bad.end('timeout')
    expect(await caught(() => failing.answered)).toBeInstanceOf(Error)
  })

  it('refuses a response type that cannot stream', async () => {
    const { xhr } = fake()
    Object.assign(xhr, { responseType: 'arraybuffer' })
    expect(await caught(() => readXhrLines(xhr))).toMatchObject({ name: 'UsageError', code: 'xhr-response-type' })
  })
})
