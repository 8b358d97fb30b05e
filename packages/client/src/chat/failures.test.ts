import { ChatClient, fetchServerSentEvents, stream, type ChatClientOptions, type StreamChunk } from '@millrace/client'
import { ProtocolError, UsageError } from '@millrace/protocol'
import { describe, expect, it } from 'vitest'
import { caught, failed, finished, hello, iterate, sse, started, text, until } from '../../test/events.ts'
import { scripted, texts } from '../../test/scripted.ts'
import { answerWith, serve, SSE_HEADERS } from '../../test/serve.ts'

describe('failures', () => {
  it('gives a RUN_ERROR as AgentError with its code, and keeps what came', async () => {
    const { chat } = scripted([[started(), ...text('So'), { ...failed('quota'), code: 'rate_limit' }], hello('r2')])
    const result = await chat.sendMessage('Hi')
    expect(result).toMatchObject({ outcome: 'error', error: { name: 'AgentError', message: 'quota', code: 'rate_limit', runId: 'r1' } })
    expect(chat.getSnapshot()).toMatchObject({ status: 'error', error: result.error })
    expect(texts(chat)).toEqual(['Hi', 'So'])
    const next = chat.sendMessage('Again')
    expect(chat.getSnapshot()).toMatchObject({ status: 'submitted', error: undefined })
    expect(await next).toEqual({ outcome: 'finished' })
  })

  it('gives what the agent said although its server went on behind it', async () => {
    const behind: [StreamChunk, string][] = [
      [{ type: 'TEXT_MESSAGE_END', messageId: 'm1' }, 'run.after-error'],
      [finished(), 'run.after-error'],
      [failed('other'), 'run.after-error'],
      [{ type: 'TEXT_MESSAGE_END', messageId: 7 } as never, 'event.malformed'],
    ]
    for (const [rest, rule] of behind) {
      const { chat } = scripted([[started(), ...text('So').slice(0, -1), { ...failed('quota'), code: 'rate_limit' }, rest], hello('r2')])
      const result = await chat.sendMessage('Hi')
      expect(result).toMatchObject({ outcome: 'error', error: { name: 'AgentError', message: 'quota', code: 'rate_limit', runId: 'r1' } })
      expect(result.error?.cause).toMatchObject({ name: 'ProtocolError', rule })
      expect(chat.getSnapshot().runs).toEqual([{ threadId: 't1', runId: 'r1', outcome: 'error', error: { message: 'quota', code: 'rate_limit' } }])
      expect(texts(chat)).toEqual(['Hi', 'So'])
    }
  })

  it('gives a malformed event as ProtocolError, keeps what came before, and closes the request', async () => {
    const server = await serve((response) => {
      response.writeHead(200, SSE_HEADERS)
      response.write(sse([started(), ...text('Ok'), { type: 'TEXT_MESSAGE_START', messageId: 7 }, ...text('no', 'm9')]))
    })
    const chat = new ChatClient({ connection: fetchServerSentEvents(server.url) })
    const result = await chat.sendMessage('Hi')
    expect(result.outcome).toBe('malformed')
    expect(result.error).toBeInstanceOf(ProtocolError)
    expect(result.error).toMatchObject({ code: 'malformed', pointer: '/messageId', event: 5 })
    expect(texts(chat)).toEqual(['Hi', 'Ok'])
    expect(chat.getSnapshot().runs.map(({ outcome }) => outcome)).toEqual(['malformed'])
    await until(() => server.cut() === 1)
  })

  it('gives a broken order rule as ProtocolError', async () => {
    const { chat } = scripted([[started(), { type: 'TEXT_MESSAGE_END', messageId: 'x' }]])
    expect(await chat.sendMessage('Hi')).toMatchObject({ outcome: 'violation', error: { name: 'ProtocolError', code: 'violation' } })
  })

  it('gives a frame that is no JSON as malformed', async () => {
    const server = await serve(answerWith(`${sse([started()])}data: <html>\n\n`))
    const chat = new ChatClient({ connection: fetchServerSentEvents(server.url) })
    expect(await chat.sendMessage('Hi')).toMatchObject({ outcome: 'malformed', error: { name: 'ProtocolError' } })
    expect(chat.getSnapshot().runs.map(({ runId, outcome }) => [runId, outcome])).toEqual([['r1', 'malformed']])
  })

  it('gives a 404 as TransportError; the run shows under the id we asked with', async () => {
    const server = await serve((response, count) => answerWith(count === 1 ? sse(hello()) : 'gone', SSE_HEADERS, count === 1 ? 200 : 404)(response))
    const chat = new ChatClient({ connection: fetchServerSentEvents(server.url) })
    await chat.sendMessage('One')
    expect(await chat.sendMessage('Two')).toMatchObject({ outcome: 'error', error: { code: 'http-status', status: 404 } })
    expect(chat.getSnapshot().runs.map(({ runId, outcome }) => [runId, outcome])).toEqual([
      ['r1', 'finished'],
      [server.requests[1]?.body.runId, 'error'],
    ])
  })

  it('does not write a rejected first event to the run before', async () => {
    const { chat } = scripted([hello(), [failed('refused')], [{ type: 'TEXT_MESSAGE_END', messageId: 'x' }], hello('r4')])
    await chat.sendMessage('One')
    expect(await chat.sendMessage('Two')).toMatchObject({ outcome: 'error' })
    expect(await chat.sendMessage('Three')).toMatchObject({ outcome: 'violation' })
    await chat.sendMessage('Four')
    expect(chat.getSnapshot().runs.map(({ outcome }) => outcome)).toEqual(['finished', 'error', 'violation', 'finished'])
  })

  it('gives what connect throws, at once or later', async () => {
    const boom = new Error('boom')
    const later = async function* (): AsyncGenerator<StreamChunk, void, undefined> {
      yield started()
      throw boom
    }
    for (const connect of [
      (): never => {
        throw boom
      },
      () => Promise.reject(boom) as never,
      later,
    ]) {
      const chat = new ChatClient({ connection: { connect } })
      const { outcome, error } = await chat.sendMessage('Hi')
      expect([outcome, error?.cause]).toEqual(['error', boom])
      expect(chat.getSnapshot()).toMatchObject({ status: 'error', runs: [{ outcome: 'error', error: { message: 'boom', code: 'connection-failed' } }] })
      expect(chat.getSnapshot().error).toBe(error)
    }
  })

  it('makes an Error of what is thrown and is none', async () => {
    const chat = new ChatClient({ connection: { connect: () => Promise.reject('just text') as never } })
    expect(await chat.sendMessage('Hi')).toMatchObject({ outcome: 'error', error: { message: 'just text' } })
  })

  it('is told by a connect that gives no iterable', async () => {
    const chat = new ChatClient({ connection: { connect: () => 5 as never } })
    expect(await chat.sendMessage('Hi')).toMatchObject({ outcome: 'error', error: { name: 'UsageError', code: 'connect-not-iterable' } })
  })

  it('ends a run whose iterable leaves everything open, as finished', async () => {
    const { chat } = scripted([[started(), ...text('Open').slice(0, -1)]])
    const events: string[] = []
    chat.updateOptions({ connection: stream(() => iterate([started(), ...text('Open').slice(0, -1)])), onEvent: ({ type }) => events.push(type) })
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    expect(chat.getSnapshot().messages[1]?.parts).toMatchObject([{ content: 'Open', state: 'done' }])
    expect(events.at(-1)).toBe('RUN_FINISHED')
  })

  it.each([
    ['neither connection nor fetcher', {}, 'no-connection'],
    ['both', { connection: stream(() => iterate([])), fetcher: () => iterate([]) }, 'two-connections'],
    ['a connection of both shapes', { connection: { connect: () => iterate([]), subscribe: () => iterate([]), send: async () => {} } }, 'both-adapter-shapes'],
    ['a connection of neither shape', { connection: {} }, 'no-adapter-shape'],
    ['a message that is none', { connection: stream(() => iterate([])), initialMessages: [{ role: 'user', content: 'x' }] }, 'malformed-message'],
  ])('refuses %s', async (_, options, code) => {
    const error = await caught(() => new ChatClient(options as ChatClientOptions))
    expect(error).toBeInstanceOf(UsageError)
    expect(error.code).toBe(code)
  })

  it('gives the real error of an event that cannot be folded, and keeps what came before', async () => {
    const boom = new Error('cannot be read')
    const trap = new Proxy({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'x' } as StreamChunk, {
      get(target, key) {
        if (key === 'delta') throw boom
        return Reflect.get(target, key)
      },
    })
    const { chat } = scripted([[started(), ...text('Ok').slice(0, -1), trap, ...text('no', 'm9')]])
    const result = await chat.sendMessage('Hi')
    expect(result.outcome).toBe('error')
    expect(result.error).toBe(boom)
    expect(texts(chat)).toEqual(['Hi', 'Ok'])
    expect(chat.getSnapshot()).toMatchObject({ status: 'error', runs: [{ runId: 'r1', outcome: 'error', error: { message: 'cannot be read' } }] })
  })

  it('keeps a logger that throws away from the turn', async () => {
    const { chat } = scripted([[started(), { type: 'STEP_STARTED', stepName: 's' }, { type: 'STEP_FINISHED', stepName: 's' }, { type: 'STEP_FINISHED', stepName: 's' }, ...text('Ok')]], {
      onEvent: () => {
        throw new Error('mine')
      },
      logger: {
        warn: () => {
          throw new Error('logger')
        },
        error: () => {
          throw new Error('logger')
        },
      },
    })
    chat.subscribe(() => {
      throw new Error('listener')
    })
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    expect(texts(chat)).toEqual(['Hi', 'Ok'])
  })

  it('keeps a callback that throws away from the turn', async () => {
    const told: unknown[] = []
    const { chat } = scripted([hello()], {
      onEvent: () => {
        throw new Error('mine')
      },
      logger: { warn: () => {}, error: (message, error) => told.push(message, error) },
    })
    chat.subscribe(() => {
      throw new Error('listener')
    })
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    expect(told).toContain('onEvent threw.')
    expect(told).toContain('A listener threw.')
  })
})
