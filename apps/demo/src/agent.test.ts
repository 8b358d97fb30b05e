import type { Diagnostic, ResumeEntry, RunAgentInput, Thread, VerifiedEvent } from '@millrace/protocol'
import { compatible, SseDecoder, ThreadBuilder, ThreadReader, toUIMessages } from '@millrace/protocol'
import { createRunHandler } from '@millrace/server'
import { describe, expect, test } from 'vitest'
import { createAgent } from './agent.ts'
import { LOCAL_TIME } from './local-time.ts'
import { readPlan } from './plan-activity.ts'
import { amountIn } from './scenes/budget.ts'
import type { Sleep } from './stage.ts'
import { pieces } from './stage.ts'
import { readTrip, spent } from './trip.ts'

const now: Sleep = () => Promise.resolve()

interface Played {
  readonly events: readonly VerifiedEvent[]
  readonly types: readonly string[]
  readonly thread: Thread
  readonly text: string
}

/** One thread against the real handler: every byte is read as a strict client reads it. */
function conversation(sleep: Sleep = now) {
  const handler = createRunHandler({ agent: createAgent({ sleep }), authorize: () => true })
  const builder = new ThreadBuilder()
  let runs = 0

  async function play(input: Partial<RunAgentInput>): Promise<Played> {
    runs += 1
    const { messages, state } = builder.snapshot()
    const sent = messages.filter(({ role }) => role !== 'activity')
    const body = { threadId: 't', runId: `r${runs}`, tools: [], context: [], messages: sent, state, ...input }
    const response = await handler(
      new Request('http://demo.test/api/chat', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify(body),
      }),
    )
    expect(response.status).toBe(200)
    const events: VerifiedEvent[] = []
    const findings: Diagnostic[] = []
    const reader = new ThreadReader({
      ...compatible(),
      thread: builder,
      onEvent: (event) => events.push(event),
      onDiagnostic: (finding) => findings.push(finding),
    })
    const decoder = new SseDecoder((frame) => reader.acceptFrame(frame))
    decoder.feed(new Uint8Array(await response.arrayBuffer()))
    decoder.finish()
    reader.finish()
    expect(findings.filter(({ severity }) => severity !== 'info')).toEqual([])
    const text = events.flatMap((event) => (event.type === 'TEXT_MESSAGE_CONTENT' ? [event.delta] : [])).join('')
    return { events, types: events.map(({ type }) => type), thread: reader.snapshot(), text }
  }

  const say = (content: string, input: Partial<RunAgentInput> = {}): Promise<Played> => {
    builder.addMessage({ id: `u${runs + 1}`, role: 'user', content })
    return play(input)
  }
  const giveResult = (toolCallId: string, content: string): Promise<Played> => {
    builder.addToolResult({ id: `t${runs + 1}`, role: 'tool', toolCallId, content })
    return play({})
  }
  const resume = (...entries: ResumeEntry[]): Promise<Played> => play({ resume: entries })
  return { say, giveResult, resume, handler }
}

const outcomeOf = ({ thread }: Played): string | undefined => thread.runs.at(-1)?.outcome

const planOf = ({ thread }: Played): string[] => {
  const activity = toUIMessages(thread.messages).flatMap(({ parts }) => parts.filter((part) => part.type === 'activity'))
  return activity.flatMap(({ content }) => readPlan(content)?.steps.map(({ status }) => status) ?? [])
}

describe('the scripted agent', () => {
  test.each([
    ['How does an answer arrive?', ['REASONING_MESSAGE_CONTENT', 'TEXT_MESSAGE_CONTENT']],
    ['Compare the weather in Lisbon and Porto', ['TOOL_CALL_ARGS', 'TOOL_CALL_RESULT']],
    ['Set the budget to €750', ['STATE_SNAPSHOT', 'STATE_DELTA']],
    ['Pack my bag', ['ACTIVITY_SNAPSHOT', 'ACTIVITY_DELTA']],
    ['Tell me a long story', ['TEXT_MESSAGE_CONTENT']],
    ['What time is it here?', ['TEXT_MESSAGE_CONTENT']],
    ['What is the capital of France?', ['TEXT_MESSAGE_CONTENT']],
    ['', ['TEXT_MESSAGE_CONTENT']],
  ])('%o conforms and finishes', async (asked, expected) => {
    const played = await conversation().say(asked)
    expect(outcomeOf(played)).toBe('finished')
    expect(played.types).toEqual(expect.arrayContaining(expected))
  })

  test('answers in small pieces that join to Markdown', async () => {
    const { text, events } = await conversation().say('How does an answer arrive?')
    for (const mark of ['## ', '1. ', '| --- |', '```tsx', '](https://', '> ']) expect(text).toContain(mark)
    const deltas = events.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT')
    expect(deltas.length).toBeGreaterThan(100)
  })

  test('calls two tools at once: arguments interleave, each call has its result', async () => {
    const played = await conversation().say('weather')
    const calls = played.events.flatMap((event) => (event.type === 'TOOL_CALL_ARGS' ? [event.toolCallId] : []))
    const turns = calls.filter((id, index) => id !== calls[index - 1])
    expect(new Set(calls).size).toBe(2)
    expect(turns.length).toBeGreaterThan(10)
    const parts = toUIMessages(played.thread.messages).flatMap(({ parts: all }) => all)
    const cards = parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []))
    expect(cards.map(({ name, state }) => [name, state])).toEqual([
      ['get_weather', 'complete'],
      ['get_weather', 'complete'],
    ])
    expect(cards.map((card) => JSON.parse(card.arguments) as unknown)).toMatchObject([{ city: 'Lisbon' }, { city: 'Porto' }])
  })

  test.each([
    ['{"now":"2026-06-12T22:30:00Z","timeZone":"Asia/Tokyo"}', 'It is **07:30** where you are (Asia/Tokyo), and **23:30** in Lisbon'],
    ['{"now":"2026-06-12T22:30:00Z","timeZone":"Nowhere/Such"}', 'did not tell me'],
    ['{"now":"soon","timeZone":"Asia/Tokyo"}', 'did not tell me'],
    ['null', 'did not tell me'],
    ['The tool failed', 'did not tell me'],
  ])('asks the page for its clock, and takes %o for an answer', async (content, expected) => {
    const { say, giveResult } = conversation()
    const asked = await say('What time is it here?', { tools: [{ name: LOCAL_TIME, description: '', parameters: {} }] })
    const [call = ''] = asked.thread.runs.at(-1)?.pendingToolCallIds ?? []
    expect(asked.types).not.toContain('TOOL_CALL_RESULT')
    const played = await giveResult(call, content)
    expect(outcomeOf(played)).toBe('finished')
    expect(played.text).toContain(expected)
  })

  test('moves the state that is there', async () => {
    const { say } = conversation()
    await say('Set the budget to €750')
    const trip = readTrip((await say('Set the budget to 1,200')).thread.state)
    expect(trip?.budget.limit).toBe(1200)
    expect(trip?.budget.items.map(({ amount }) => amount)).toEqual([38, 60])
  })

  test('the tour shows every family and ends with a question', async () => {
    const played = await conversation().say('Plan a weekend in Lisbon')
    expect(outcomeOf(played)).toBe('interrupted')
    expect(played.thread.interrupts).toMatchObject([{ reason: 'input_required', responseSchema: { type: 'object' } }])
    expect(new Set(played.types.map((type) => type.split('_')[0]))).toEqual(
      new Set(['RUN', 'STEP', 'REASONING', 'ACTIVITY', 'TEXT', 'TOOL', 'STATE']),
    )
    expect(planOf(played)).toEqual(['done', 'done', 'done', 'waiting'])
  })

  test('goes on from an answer: the same plan, a tool, the state', async () => {
    const { say, resume } = conversation()
    const [asked] = (await say('Plan a weekend in Lisbon')).thread.interrupts
    const payload = { room: 'alfama-18', breakfast: true, note: 'late' }
    const played = await resume({ interruptId: asked?.id ?? '', status: 'resolved', payload })
    expect(outcomeOf(played)).toBe('finished')
    expect(played.thread.interrupts).toEqual([])
    expect(planOf(played)).toEqual(['done', 'done', 'done', 'done'])
    const trip = readTrip(played.thread.state)
    expect(trip && spent(trip)).toBe(96 + 140 + 52 + 188 + 28)
    expect(trip?.checklist.every(({ done }) => done)).toBe(true)
    expect(played.text).toContain('Alfama 18')
  })

  test('goes on from a refusal: nothing is held', async () => {
    const { say, resume } = conversation()
    const asked = await say('Plan a weekend in Lisbon')
    const played = await resume({ interruptId: asked.thread.interrupts[0]?.id ?? '', status: 'cancelled' })
    expect(outcomeOf(played)).toBe('finished')
    expect(played.types).not.toContain('TOOL_CALL_START')
    expect(played.thread.state).toEqual(asked.thread.state)
    expect(planOf(played)).toEqual(['done', 'done', 'done', 'skipped'])
  })

  test.each([undefined, null, 'alfama-18', {}, { room: 'elsewhere' }, { room: ['alfama-18'] }, []])(
    'asks again when the answer is %o',
    async (payload) => {
      const { say, resume } = conversation()
      const asked = await say('Book a room')
      const interruptId = asked.thread.interrupts[0]?.id ?? ''
      const played = await resume({ interruptId, status: 'resolved', ...(payload != null && { payload }) })
      expect(outcomeOf(played)).toBe('interrupted')
      expect(played.thread.interrupts[0]?.id).not.toBe(interruptId)
    },
  )

  test('fails on request, keeps what was said, and succeeds when tried again', async () => {
    const { say } = conversation()
    const failed = await say('Fail half way')
    expect(outcomeOf(failed)).toBe('error')
    expect(failed.thread.runs.at(-1)?.error).toMatchObject({ code: 'upstream_unavailable' })
    expect(failed.text).toContain('I ask the railway')
    const again = await say('Fail half way')
    expect(outcomeOf(again)).toBe('finished')
    expect(again.types).toContain('TOOL_CALL_RESULT')
  })

  test('stops when the run is cancelled, with everything closed', async () => {
    let waited = 0
    const { say, handler } = conversation(async () => {
      waited += 1
      if (waited === 30) await handler(new Request('http://demo.test/api/chat?runId=r1', { method: 'DELETE' }))
    })
    const played = await say('Tell me a long story')
    expect(outcomeOf(played)).toBe('cancelled')
    expect(played.types.at(-2)).toBe('TEXT_MESSAGE_END')
    expect(played.text.length).toBeGreaterThan(0)
    expect(waited).toBeLessThan(40)
    expect(handler.counts()).toEqual({ producers: 0, readers: 0 })
  })
})

test('pieces lose nothing', () => {
  for (const text of ['', ' ', 'a', '  a\n\nlonger words, and 🚲🚲🚲🚲🚲🚲🚲🚲 too \n']) expect(pieces(text).join('')).toBe(text)
})

test.each([
  ['Set the budget to €750', 750],
  ['2 people, 1,200 euros', 1200],
  ['make it 1.500 €', 1500],
  ['no number', undefined],
  ['far too much: 10000000', undefined],
])('the amount in %o', (text, amount) => {
  expect(amountIn(text)).toBe(amount)
})
