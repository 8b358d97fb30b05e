import { ChatClient, fetchServerSentEvents } from '@millrace/client'
import { describe, expect, it } from 'vitest'
import { finished, hello, recording, sse, started, text, tick, until, userMessage } from '../../test/events.ts'
import { texts } from '../../test/scripted.ts'
import { answerWith, serve, SSE_HEADERS } from '../../test/serve.ts'

describe('client cases', () => {
  it('client-created-at-string: history restored from JSON can be sent on', async () => {
    const server = await serve(answerWith(sse(hello())))
    const stored = JSON.parse(
      JSON.stringify([
        { ...userMessage('Old'), createdAt: new Date(86_400_000) },
        { id: 'a0', role: 'assistant', parts: [{ type: 'text', content: 'Answer' }], createdAt: new Date(86_401_000) },
        { id: 'u9', role: 'user', parts: [{ type: 'text', content: 'x' }], createdAt: 'not a date' },
      ]),
    )
    const chat = new ChatClient({ connection: fetchServerSentEvents(server.url), initialMessages: stored })
    expect(chat.getSnapshot().messages.map(({ createdAt }) => createdAt)).toEqual([new Date(86_400_000), new Date(86_401_000), undefined])
    expect(await chat.sendMessage('New')).toEqual({ outcome: 'finished' })
    expect(server.requests).toHaveLength(1)
    expect(chat.getSnapshot().error).toBeUndefined()
    expect(texts(chat)).toEqual(['Old', 'Answer', 'x', 'New', 'Hello'])
    expect(chat.getSnapshot().messages[1]?.createdAt).toEqual(new Date(86_401_000))
  })

  it.each([
    ['with a RUN_STARTED for each model turn', [started()]],
    ['within one run, as TanStack AI sends it', []],
  ])('client-run-per-turn: %s, one request, one onFinish, settled after the last event', async (_, between) => {
    const call = [
      { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'f' },
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{}' },
      { type: 'TOOL_CALL_END', toolCallId: 'c1' },
    ]
    const server = await serve(async (response) => {
      response.writeHead(200, SSE_HEADERS)
      response.write(sse([started(), ...call, { ...finished(), metadata: { tanstack: { finishReason: 'tool_calls' } } }]))
      await tick(30)
      response.write(sse([{ type: 'TOOL_CALL_RESULT', messageId: 'x1', toolCallId: 'c1', content: '1' }, ...between, ...text('Done', 'm2')]))
      await tick(30)
      response.end(sse([finished()]))
    })
    let finishes = 0
    const outcomes: string[] = []
    const chat = new ChatClient({
      connection: fetchServerSentEvents(server.url),
      onFinish: ({ outcome }) => {
        finishes++
        outcomes.push(outcome)
      },
    })
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    expect(chat.getSnapshot().messages[1]?.parts).toMatchObject([{ type: 'tool-call', output: '1' }, { type: 'text', content: 'Done' }])
    await tick(30)
    expect(server.requests).toHaveLength(1)
    expect([finishes, outcomes]).toEqual([1, ['finished']])
  })

  it('client-abort: a stop is no error, pulls nothing more, and is not reported as finished', async () => {
    let pulls = 0
    let returned = 0
    const finishes: string[] = []
    const errors: Error[] = []
    const connection = {
      connect: () => ({
        [Symbol.asyncIterator]: () => ({
          async next() {
            pulls++
            await tick(5)
            return pulls === 1 ? { done: false, value: started() } : { done: false, value: { type: 'CUSTOM', name: 'n', value: pulls } }
          },
          async return() {
            returned++
            return { done: true, value: undefined }
          },
        }),
      }),
    }
    const chat = new ChatClient({ connection: connection as never, onFinish: ({ outcome }) => finishes.push(outcome), onError: (error) => errors.push(error) })
    const sent = chat.sendMessage('Hi')
    await until(() => pulls > 3)
    chat.stop()
    const atStop = pulls
    const snapshot = chat.getSnapshot()
    expect(snapshot).toMatchObject({ status: 'ready', error: undefined })
    expect(await sent).toEqual({ outcome: 'cancelled' })
    await tick(40)
    expect(pulls - atStop).toBe(0)
    expect(returned).toBe(1)
    expect(chat.getSnapshot()).toBe(snapshot)
    expect(chat.getSnapshot().runs.at(-1)?.outcome).toBe('cancelled')
    expect([finishes, errors]).toEqual([['cancelled'], []])
  })

  it('client-abort: over HTTP the connection is closed and what came stays', async () => {
    const server = await serve((response) => {
      response.writeHead(200, SSE_HEADERS)
      response.write(sse([started(), ...text('Half', 'm1').slice(0, 3)]))
    })
    const chat = new ChatClient({ connection: fetchServerSentEvents(server.url) })
    const sent = chat.sendMessage('Hi')
    await until(() => texts(chat)[1] === 'Ha')
    chat.stop()
    expect(chat.getSnapshot()).toMatchObject({ status: 'ready', error: undefined })
    expect(await sent).toEqual({ outcome: 'cancelled' })
    expect(texts(chat)).toEqual(['Hi', 'Ha'])
    await until(() => server.cut() === 1)
  })

  it.each([
    ['the first is done first', ['one', 'two']],
    ['the second is done first', ['two', 'one']],
  ])('client-two-client-tools: %s, the agent goes on once', async (_, order) => {
    const call = (id: string, name: string) => [
      { type: 'TOOL_CALL_START', toolCallId: id, toolCallName: name },
      { type: 'TOOL_CALL_END', toolCallId: id },
    ]
    const server = await serve((response, count) => {
      const answer = count === 1 ? [...call('c1', 'one'), ...call('c2', 'two')] : text('Done', 'm2')
      answerWith(sse([started(`r${count}`), ...answer, finished(`r${count}`)]))(response)
    })
    const done: string[] = []
    const tool = (name: string) => ({
      name,
      description: name,
      execute: async () => {
        await until(() => done.length === order.indexOf(name))
        done.push(name)
        return name
      },
    })
    const chat = new ChatClient({ connection: fetchServerSentEvents(server.url), tools: [tool('one'), tool('two')] })
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    await tick(30)
    expect(done).toEqual(order)
    expect(server.requests).toHaveLength(2)
    const answers = server.requests[1]?.body.messages.filter(({ role }: { role: string }) => role === 'tool')
    expect(answers).toMatchObject([{ toolCallId: 'c1', content: 'one' }, { toolCallId: 'c2', content: 'two' }])
  })

  it('client-post-not-repeated: an end without terminal event is truncated, and nothing is sent again', async () => {
    const server = await serve(answerWith(sse([started(), ...text('Part')])))
    const errors: Error[] = []
    const chat = new ChatClient({ connection: fetchServerSentEvents(server.url), onError: (error) => errors.push(error) })
    const result = await chat.sendMessage('Hi')
    expect(result).toMatchObject({ outcome: 'truncated', error: { name: 'StreamTruncatedError', code: 'truncated' } })
    await tick(50)
    expect(server.requests).toHaveLength(1)
    expect(chat.getSnapshot()).toMatchObject({ status: 'error', error: result.error })
    expect(texts(chat)).toEqual(['Hi', 'Part'])
    expect(chat.getSnapshot().runs.map(({ outcome }) => outcome)).toEqual(['truncated'])
    expect(errors).toEqual([result.error])
  })
})

it('a stream of [DONE] alone is finished, under the ids we asked with', async () => {
  const server = await serve(answerWith('data: [DONE]\n\n'))
  const chat = new ChatClient({ connection: fetchServerSentEvents(server.url) })
  expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
  expect(chat.getSnapshot()).toMatchObject({ status: 'ready', error: undefined, runs: [{ runId: server.requests[0]?.body.runId, outcome: 'finished' }] })
  expect(texts(chat)).toEqual(['Hi'])
})

describe('recordings', () => {
  it('shows the whole conversation that TanStack AI sends in one response', async () => {
    const server = await serve(answerWith(recording('tanstack-tools.sse')))
    const warned: string[] = []
    const chat = new ChatClient({ connection: fetchServerSentEvents(server.url), onDiagnostic: ({ rule }) => warned.push(rule) })
    expect(await chat.sendMessage('Weather?')).toEqual({ outcome: 'finished' })
    const [, answer] = chat.getSnapshot().messages
    expect(chat.getSnapshot().messages).toHaveLength(2)
    expect(answer?.parts).toMatchObject([
      { type: 'text', content: 'Let me look that up for you.' },
      { type: 'tool-call', name: 'getWeather', state: 'complete', output: { city: 'Zürich', degrees: 4 } },
      { type: 'tool-call', name: 'getWeather', state: 'complete', output: { city: 'São Paulo', degrees: 27 } },
      { type: 'text', content: 'Zürich is at 4 °C and São Paulo at 27 °C.' },
    ])
    expect(warned).toContain('tolerated.run-goes-on')
  })

  it.each(['copilotkit-hello', 'copilotkit-tools', 'copilotkit-reasoning', 'copilotkit-client-tool', 'tanstack-hello', 'tanstack-reasoning'])(
    'finishes %s',
    async (name) => {
      const server = await serve(answerWith(recording(`${name}.sse`)))
      const chat = new ChatClient({ connection: fetchServerSentEvents(server.url) })
      expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
      expect(chat.getSnapshot().messages.at(-1)?.role).toBe('assistant')
    },
  )

  it.each(['copilotkit-error', 'tanstack-error'])('shows the failure of %s', async (name) => {
    const server = await serve(answerWith(recording(`${name}.sse`)))
    const chat = new ChatClient({ connection: fetchServerSentEvents(server.url) })
    const result = await chat.sendMessage('Hi')
    expect(result).toMatchObject({ outcome: 'error', error: { name: 'AgentError' } })
    expect(chat.getSnapshot().status).toBe('error')
  })
})
