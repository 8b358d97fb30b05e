/** What connections refuse of who made them: the caller's mistakes are no failures of the network. */
import { ChatClient, fetchHttpStream, fetchServerSentEvents, stream, webSocket, xhrHttpStream, xhrServerSentEvents, type ConnectionAdapter } from '@millrace/client'
import { describe, expect, it } from 'vitest'
import { caught, collectUntilError, hello, iterate, sse, started } from '../../test/events.ts'

const context = { threadId: 't1', runId: 'r1' }
const good = async (): Promise<Response> => new Response(sse(hello()))
const cycle: Record<string, unknown> = {}
cycle['self'] = cycle

describe('fetch connections', () => {
  const failure = async (options: unknown, ...args: unknown[]): Promise<any> => {
    const { items, error } = await collectUntilError(
      fetchServerSentEvents('/x', options as never).connect([], args[0] as never, undefined, { ...context, ...(args[1] as object) }),
    )
    expect(items).toEqual([])
    return error
  }

  it.each<[string, string, unknown, ...unknown[]]>([
    ['a fetchClient that gives undefined', 'no-response', { fetchClient: async () => undefined }],
    ['a fetchClient that gives text', 'no-response', { fetchClient: async () => 'data: {}' }],
    ['an options function with a fetchClient that is no function', 'bad-options', () => ({ fetchClient: 'fetch' })],
    ['an options function that gives undefined', 'bad-options', () => undefined],
    ['an options function that promises null', 'bad-options', async () => null],
    ['an options function with a bad limit', 'bad-limit', () => ({ limits: { frameLength: -5 } })],
    ['an invalid header name', 'invalid-header', { fetchClient: good, headers: { 'no good': 'x' } }],
    ['an invalid header of the run', 'invalid-header', { fetchClient: good }, undefined, { headers: { 'é:': 'x' } }],
    ['a BigInt in `body`', 'not-serialisable', { fetchClient: good, body: { n: 1n } }],
    ['a cycle in the data of the send', 'not-serialisable', { fetchClient: good }, cycle],
    ['a BigInt in forwardedProps', 'not-serialisable', { fetchClient: good }, undefined, { forwardedProps: { n: 1n } }],
    ['a cycle in the state', 'not-serialisable', { fetchClient: good }, undefined, { state: cycle }],
  ])('%s is a UsageError %s', async (_, code, options, ...args) => {
    expect(await failure(options, ...args)).toMatchObject({ name: 'UsageError', code })
  })

  const values = { frameLength: 'x' }
  it.each<[string, unknown, string?]>([
    ['body', 'x'],
    ['missingTerminal', 'zork'],
    ['wire', 'zork'],
    ['signal', 'x'],
    ['onReconnect', 5],
    ['onWarning', 5],
    ['fetchClient', 'fetch'],
    ['xhrFactory', {}],
    ['limits', values, 'bad-limit'],
    ['resume', 'zork', 'bad-resume'],
    ['reconnect', 5, 'bad-reconnect'],
  ])('`%s` that is %j is told where it is given, by its name', async (name, value, code = 'bad-options') => {
    for (const factory of [fetchServerSentEvents, fetchHttpStream, xhrServerSentEvents, xhrHttpStream]) {
      const error = await caught(() => factory('/x', { [name]: value } as never))
      expect(error).toMatchObject({ name: 'UsageError', code })
      expect(error.message).toContain(code === 'bad-limit' ? 'limits.frameLength' : code === 'bad-resume' ? 'zork' : name)
      expect(await caught(() => factory('/x', { [name]: undefined, zork: value } as never))).toBeUndefined()
    }
  })

  it.each<[string, unknown]>([
    ['body', 5],
    ['wire', 'zork'],
    ['missingTerminal', 'zork'],
    ['onReconnect', 5],
    ['WebSocketImpl', {}],
    ['lingerMs', 'x'],
    ['pingMs', -1],
    ['hydrate', 5],
    ['cancelRun', 5],
  ])('`%s` of a socket that is %j as well', async (name, value) => {
    const error = await caught(() => webSocket('ws://x', { WebSocketImpl: Object, [name]: value } as never))
    expect(error).toMatchObject({ name: 'UsageError', code: 'bad-options' })
    expect(error.message).toContain(name)
  })

  it.each(['joinRun', 'hydrate', 'cancelRun'])('`%s` of a stream that is no function as well', async (name) => {
    const error = await caught(() => stream(() => iterate([]), { [name]: 5 } as never))
    expect(error).toMatchObject({ name: 'UsageError', code: 'bad-options' })
    expect(error.message).toContain(name)
  })

  it('options that are null are told where they are given', async () => {
    for (const factory of [fetchServerSentEvents, fetchHttpStream]) {
      expect(await caught(() => factory('/x', null as never))).toMatchObject({ name: 'UsageError', code: 'bad-options' })
    }
  })
})

describe('sources that are none', () => {
  const undefinedResult = { [Symbol.asyncIterator]: () => ({ next: async () => undefined }) }
  const noNext = { [Symbol.asyncIterator]: () => ({}) }
  const noIterator = { [Symbol.asyncIterator]: () => undefined }

  it.each<[string, string, unknown]>([
    ['subscribe() that gives undefined', 'subscribe-not-iterable', { subscribe: () => undefined, send: async () => {} }],
    ['subscribe() that gives a promise', 'subscribe-not-iterable', { subscribe: async () => iterate([]), send: async () => {} }],
    ['an iterator without next', 'not-an-iterator', { connect: () => noNext }],
    ['no iterator at all', 'not-an-iterator', stream(() => noIterator as never)],
    ['next() that resolves to undefined', 'not-an-iterator', { connect: () => undefinedResult }],
    ['next() of a channel that resolves to undefined', 'not-an-iterator', { subscribe: () => undefinedResult, send: () => new Promise(() => {}) }],
  ])('%s is a UsageError %s', async (_, code, connection) => {
    const chat = new ChatClient({ connection: connection as ConnectionAdapter })
    expect(await chat.sendMessage('Hi')).toMatchObject({ outcome: 'error', error: { name: 'UsageError', code } })
    expect(chat.getSnapshot()).toMatchObject({ status: 'error', runs: [{ outcome: 'error' }] })
  })
})

describe('what connections throw', () => {
  it.each<[string, ConnectionAdapter]>([
    ['connect() that throws', { connect: () => { throw new Error('boom') } }],
    ['connect() that rejects', { connect: () => Promise.reject(new Error('boom')) as never }],
    ['an iterable that throws', { async *connect() { yield started(); throw new Error('boom') } }],
    ['an in-process agent that throws', stream(() => { throw new Error('boom') })],
    ['a subscribe() that throws', { subscribe: () => { throw new Error('boom') }, send: async () => {} }],
    ['a send() that rejects', { subscribe: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }), send: () => Promise.reject(new Error('boom')) }],
    ['a text that is thrown', { connect: () => Promise.reject('boom') as never }],
    ['a numeric code', { connect: () => Promise.reject(Object.assign(new Error('boom'), { code: 20 })) as never }],
    ['a URL function that throws', fetchServerSentEvents(() => { throw new Error('boom') })],
  ])('%s has a code, and the original as its cause', async (_, connection) => {
    const { outcome, error } = await new ChatClient({ connection }).sendMessage('Hi')
    expect(outcome).toBe('error')
    expect(error).toMatchObject({ name: 'TransportError', code: 'connection-failed', message: 'boom' })
    const { cause } = error as Error
    expect(cause instanceof Error ? cause.message : cause).toBe('boom')
  })

  it('an error that has a code stays as it is', async () => {
    const own = Object.assign(new Error('boom'), { code: 'E_QUOTA' })
    const result = await new ChatClient({ connection: { connect: () => Promise.reject(own) as never } }).sendMessage('Hi')
    expect(result.error).toBe(own)
  })
})
