import { describe, expect, test } from 'vitest'
import type { Agent } from './agent.ts'
import { AgentError, LogError, RunEndedError } from './errors.ts'
import { DEFAULT_SERVER_LIMITS } from './limits.ts'
import { START } from './log/contract.ts'
import { MemoryLog } from './log/memory.ts'
import { eventually, FakeClock, input, makeHub, never, parseEntries, runAgent, types, type Event } from './test/fixtures.ts'

describe('the two forms of an agent', () => {
  const yielded: Event[] = [
    { type: 'TEXT_MESSAGE_START', messageId: 'm' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Hello' },
    { type: 'TEXT_MESSAGE_END', messageId: 'm' },
  ]
  const forms: Record<string, Agent> = {
    'a generator that yields': async function* () {
      yield* yielded
    },
    'a function that awaits': async (_, run) => void (await run.text('Hello', { messageId: 'm' })),
    'a function that returns an iterable': async () => (async function* () {
      yield* yielded
    })(),
    'a ReadableStream': () => new ReadableStream<Event>({
      start(controller) {
        for (const event of yielded) controller.enqueue(event)
        controller.close()
      },
    }) as unknown as AsyncIterable<Event>,
    'chunks': async function* () {
      yield { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', delta: 'Hel' }
      yield { type: 'TEXT_MESSAGE_CHUNK', delta: 'lo' }
    },
  }
  for (const [name, agent] of Object.entries(forms)) {
    test(name, async () => {
      const { events, thread, outcome } = await runAgent(agent)
      expect(outcome).toBe('finished')
      expect(events[0]).toEqual({ type: 'RUN_STARTED', threadId: 't1', runId: 'r1', protocolVersion: '1.0' })
      expect(events.at(-1)).toEqual({ type: 'RUN_FINISHED', threadId: 't1', runId: 'r1' })
      expect(thread.messages.at(-1)).toMatchObject({ id: 'm', content: 'Hello' })
    })
  }

  test('a generator that yields and awaits keeps the order of the program', async () => {
    const { events } = await runAgent(async function* (_, run) {
      yield { type: 'CUSTOM', name: 'app.a', value: 1 }
      await run.custom('app.b', 2)
      yield { type: 'CUSTOM', name: 'app.c', value: 3 }
    })
    expect(events.flatMap(({ name }) => name ?? [])).toEqual(['app.a', 'app.b', 'app.c'])
  })

  test('what an agent is given', async () => {
    const asked = input({ parentRunId: 'r0', resume: [{ interruptId: 'i', status: 'resolved', payload: 1 }] })
    const { events } = await runAgent(
      async (got, run) => {
        expect(got).toBe(asked)
        expect([run.threadId, run.runId, run.signal.aborted]).toEqual(['t1', 'r1', false])
        expect(run.answer('i')?.payload).toBe(1)
        expect(run.answer('j')).toBe(undefined)
        expect(run.request.url).toBe('http://localhost/')
      },
      { input: asked },
    )
    expect(events[0]).toMatchObject({ parentRunId: 'r0' })
    expect(types(events)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
  })
})

describe('what is left open is closed, newest first', () => {
  const leaveOpen: Agent = async function* (_, run) {
    yield { type: 'STEP_STARTED', stepName: 'plan' }
    yield { type: 'SUBAGENT_STARTED', subagentRunId: 's', name: 'sub' }
    yield { type: 'STEP_STARTED', stepName: 'plan', subagentRunId: 's' }
    yield { type: 'REASONING_START', messageId: 'x' }
    yield { type: 'REASONING_MESSAGE_START', messageId: 'x', role: 'reasoning' }
    yield { type: 'TEXT_MESSAGE_START', messageId: 'm', subagentRunId: 's' }
    yield { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'f' }
    yield { type: 'TEXT_MESSAGE_CHUNK', messageId: 'chunked', delta: 'x' }
    await run.custom('app.last', 0)
    yield { type: 'TOOL_CALL_CHUNK', toolCallId: 'c2', toolCallName: 'g', delta: '{' }
  }
  const closed = [
    'TOOL_CALL_END',
    'TEXT_MESSAGE_END',
    'REASONING_MESSAGE_END',
    'REASONING_END',
    'STEP_FINISHED',
    'SUBAGENT_FINISHED',
    'STEP_FINISHED',
  ]

  test('when the agent returns', async () => {
    const { events, outcome } = await runAgent(leaveOpen)
    expect(outcome).toBe('finished')
    expect(types(events.filter(({ toolCallId, messageId }) => toolCallId !== 'c2' && messageId !== 'chunked')).slice(-8)).toEqual([...closed, 'RUN_FINISHED'])
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'success', pendingToolCallIds: ['c', 'c2'] } })
  })

  test('when the agent sends RUN_FINISHED itself', async () => {
    const { events, outcome } = await runAgent(async function* (asked, run) {
      yield* leaveOpen(asked, run) as AsyncIterable<Event>
      yield { type: 'RUN_FINISHED', threadId: 't1', runId: 'r1', result: { n: 1 } }
    })
    expect(outcome).toBe('finished')
    expect(events.at(-1)).toEqual({ type: 'RUN_FINISHED', threadId: 't1', runId: 'r1', result: { n: 1 } })
  })

  test('not when it failed: an END would say complete', async () => {
    const { events, outcome } = await runAgent(async function* () {
      yield { type: 'TEXT_MESSAGE_START', messageId: 'm' }
      throw new Error('no')
    })
    expect(outcome).toBe('error')
    expect(types(events)).toEqual(['RUN_STARTED', 'TEXT_MESSAGE_START', 'RUN_ERROR'])
  })
})

describe('how a run finishes', () => {
  test('details that the agent left', async () => {
    const { events } = await runAgent(async (_, run) => {
      const call = await run.toolCall('f', {})
      run.finish({ result: { ok: true } })
      run.finish({ usage: [{ inputTokens: 1 }], pendingToolCallIds: [call.toolCallId] })
    })
    expect(events.at(-1)).toEqual({
      type: 'RUN_FINISHED',
      threadId: 't1',
      runId: 'r1',
      result: { ok: true },
      usage: [{ inputTokens: 1 }],
      outcome: { type: 'success', pendingToolCallIds: ['id1'] },
    })
  })

  test('calls with a result are not pending', async () => {
    const { events } = await runAgent(async (_, run) => {
      await (await run.toolCall('answered', {})).result('yes')
      await run.toolCall('asked', {}, { toolCallId: 'c' })
    })
    expect(events.at(-1)).toMatchObject({ outcome: { pendingToolCallIds: ['c'] } })
  })

  test('with the interrupts it asked', async () => {
    const { events, thread, outcome } = await runAgent(async (_, run) => {
      await run.toolCall('send', {}, { toolCallId: 'c' })
      run.interrupt({ reason: 'confirmation', message: 'Send it?', toolCallId: 'c' })
      return run.interrupt({ id: 'mine', reason: 'input' })
    })
    expect(outcome).toBe('interrupted')
    expect(events.at(-1)).toMatchObject({
      outcome: { type: 'interrupt', interrupts: [{ id: 'id1', reason: 'confirmation', toolCallId: 'c' }, { id: 'mine' }] },
    })
    expect(thread.interrupts).toHaveLength(2)
  })

  test('an interrupt id is used once', async () => {
    const { outcome } = await runAgent(async (_, run) => {
      run.interrupt({ id: 'i', reason: 'a' })
      expect(() => run.interrupt({ id: 'i', reason: 'b' })).toThrow('asked before')
    })
    expect(outcome).toBe('interrupted')
  })

  test('its own RUN_STARTED is taken as said, its own RUN_FINISHED ends it there', async () => {
    let wentOn = false
    const { events, outcome } = await runAgent(async function* () {
      yield { type: 'RUN_STARTED', threadId: 't1', runId: 'r1' }
      yield { type: 'RUN_FINISHED', threadId: 't1', runId: 'r1', outcome: { type: 'cancelled' } }
      wentOn = true
    })
    expect(types(events)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
    expect([outcome, wentOn]).toEqual(['cancelled', false])
  })

  test('its own RUN_ERROR goes out as it is', async () => {
    const { events } = await runAgent(async function* () {
      yield { type: 'RUN_ERROR', message: 'Out of quota', code: 'quota' }
    })
    expect(events.at(-1)).toEqual({ type: 'RUN_ERROR', message: 'Out of quota', code: 'quota' })
  })
})

describe('an agent that fails', () => {
  const failures: Record<string, Agent> = {
    'when it is called': () => {
      throw new Error('secret')
    },
    'with a rejection': async () => {
      throw new Error('secret')
    },
    'after its first event': async (_, run) => {
      await run.text('Hello')
      throw new Error('secret')
    },
    'as a generator': async function* () {
      yield { type: 'CUSTOM', name: 'app.x', value: 1 }
      throw new Error('secret')
    },
    'with something that is no error': async () => {
      throw 'secret'
    },
  }
  for (const [name, agent] of Object.entries(failures)) {
    test(name, async () => {
      const { events, outcome, logger } = await runAgent(agent)
      expect(outcome).toBe('error')
      expect(events[0]?.type).toBe('RUN_STARTED')
      expect(events.at(-1)).toEqual({ type: 'RUN_ERROR', message: 'The agent failed', code: 'agent.failed' })
      expect(JSON.stringify(events)).not.toContain('secret')
      expect(logger.lines.map(({ data }) => String(data['error']))).toEqual([expect.stringContaining('secret')])
    })
  }

  test('shows what it means to show', async () => {
    const { events } = await runAgent(async () => {
      throw new AgentError('quota', 'Out of quota', { cause: new Error('secret') })
    })
    expect(events.at(-1)).toEqual({ type: 'RUN_ERROR', message: 'Out of quota', code: 'quota' })
  })

  test('a logger that throws changes nothing', async () => {
    const logger = {
      warn: () => undefined,
      error: () => {
        throw new Error('disk full')
      },
    }
    const { guarded } = await import('./logger.ts')
    const { outcome } = await runAgent(failures['with a rejection'] as Agent, { logger: guarded(logger) })
    expect(outcome).toBe('error')
  })
})

describe('an agent that breaks a rule', () => {
  const violations: Record<string, unknown[]> = {
    'text.continue': [{ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x' }],
    'step.close': [{ type: 'STEP_FINISHED', stepName: 'x' }],
    'run.nested': [
      { type: 'CUSTOM', name: 'app.x', value: 1 },
      { type: 'RUN_STARTED', threadId: 't1', runId: 'r1' },
    ],
    'run.identity': [{ type: 'RUN_FINISHED', threadId: 't1', runId: 'other' }],
    'event.malformed': [{ type: 'TEXT_MESSAGE_START', messageId: 7 }],
  }
  for (const [code, events] of Object.entries(violations)) {
    test(code, async () => {
      let closed = false
      const run = await runAgent(async function* () {
        try {
          yield* events as Event[]
          yield { type: 'CUSTOM', name: 'app.after', value: 1 }
        } finally {
          closed = true
        }
      })
      expect(run.outcome).toBe('error')
      expect(run.events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code })
      expect(JSON.stringify(run.events)).not.toContain('app.after')
      expect(run.logger.lines.some(({ level }) => level === 'error')).toBe(true)
      await eventually(() => closed)
    })
  }

  test('its helpers reject from then on', async () => {
    const seen: unknown[] = []
    await runAgent(async (_, run) => {
      await run.emit({ type: 'STEP_FINISHED', stepName: 'x' }).catch((error: unknown) => seen.push(error))
      await run.text('more').catch((error: unknown) => seen.push(error))
      expect(run.signal.aborted).toBe(true)
    })
    expect(seen).toEqual([expect.objectContaining({ rule: 'step.close' }), expect.any(RunEndedError)])
  })

  test('a patch that does not apply goes out, since clients skip it, and is logged', async () => {
    const { outcome, thread, logger } = await runAgent(async (_, run) => {
      await run.state.patch([{ op: 'replace', path: '/missing/x', value: 1 }])
      expect(run.state.value).toEqual({ kept: true })
    }, { input: input({ state: { kept: true } }) })
    expect([outcome, thread.state]).toEqual(['finished', {}])
    expect(logger.lines).toMatchObject([{ level: 'warn', message: 'A state patch does not apply' }])
  })

  test('a field AG-UI does not define is removed and logged', async () => {
    const { events, outcome, logger } = await runAgent(async function* () {
      yield { type: 'CUSTOM', name: 'app.x', value: 1, colour: 'red' } as Event
    })
    expect(outcome).toBe('finished')
    expect(events[1]).toEqual({ type: 'CUSTOM', name: 'app.x', value: 1 })
    expect(logger.lines[0]).toMatchObject({ level: 'warn', data: { rule: 'event.unknown-field' } })
  })
})

describe('cancelling', () => {
  test('ends the run at once with everything closed, whatever the agent does', async () => {
    const { hub, log, clock } = makeHub(async (_, run) => {
      await run.text().then((message) => message.write('Hel'))
      await run.toolCall('f')
      await never()
    })
    await hub.start(input(), new Request('http://localhost/'))
    await eventually(() => hub.counts.producers === 1)
    await clock.turn()
    expect(await hub.cancel('r1')).toMatchObject({ status: 'closed', outcome: 'cancelled' })
    const events = parseEntries((await log.read('r1')).entries)
    expect(types(events)).toEqual([
      'RUN_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TOOL_CALL_START',
      'TOOL_CALL_END',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ])
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'cancelled' } })
    expect(hub.counts).toEqual({ producers: 0, readers: 0 })
    expect(clock.pending).toBe(0)
  })

  test('the agent learns of it by its signal and its helpers, and a generator is returned', async () => {
    const seen: unknown[] = []
    let waits = false
    const { hub } = makeHub(async function* (_, run) {
      try {
        yield { type: 'CUSTOM', name: 'app.x', value: 1 }
        waits = true
        await new Promise((resolve) => run.signal.addEventListener('abort', resolve))
        await run.text('late').catch((error: unknown) => seen.push((error as RunEndedError).code))
        yield { type: 'CUSTOM', name: 'app.late', value: 1 }
        seen.push('went on')
      } finally {
        seen.push('returned')
      }
    })
    await hub.start(input(), new Request('http://localhost/'))
    await eventually(() => waits)
    await hub.stop()
    await eventually(() => seen.includes('returned'))
    expect(seen).toEqual(['cancelled', 'returned'])
  })

  test('an agent that fails on its way out is logged, no more', async () => {
    const { hub, log, logger } = makeHub(async (_, run) => {
      await new Promise((resolve) => run.signal.addEventListener('abort', resolve))
      throw new Error('could not tidy up')
    })
    await hub.start(input(), new Request('http://localhost/'))
    await hub.stop()
    expect((await log.get('r1'))?.outcome).toBe('cancelled')
    expect(logger.lines.every(({ message }) => message.includes('ended'))).toBe(true)
  })

  test('a cancel asked elsewhere is heard with the next append, or the next renewal', async () => {
    const { hub, log, clock } = makeHub(() => never())
    await hub.start(input(), new Request('http://localhost/'))
    await log.requestCancel('r1')
    await clock.advance(10_000)
    await eventually(() => hub.counts.producers === 0)
    expect((await log.get('r1'))?.outcome).toBe('cancelled')
    expect(clock.pending).toBe(0)
  })
})

describe('bounds', () => {
  test('a run that takes too long ends', async () => {
    const { hub, log, clock } = makeHub(() => never(), { limits: { ...DEFAULT_SERVER_LIMITS, runMs: 5000 } })
    await hub.start(input(), new Request('http://localhost/'))
    await clock.advance(5000)
    await eventually(() => hub.counts.producers === 0)
    expect(parseEntries((await log.read('r1')).entries).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'run.timeout' })
    expect(clock.pending).toBe(0)
  })

  test('a run longer than the log keeps ends with an error that says so', async () => {
    const clock = new FakeClock()
    const log = new MemoryLog({ clock, limits: { runLength: 10_000 } })
    const { events, outcome } = await runAgent(
      async function* () {
        for (;;) yield { type: 'CUSTOM', name: 'app.x', value: 'x'.repeat(500) }
      },
      { log },
    )
    expect(outcome).toBe('error')
    expect(events.at(-1)).toMatchObject({ code: 'log.limit' })
    expect(events.length).toBeLessThan(25)
  })

  test('an agent waits for the log', async () => {
    let produced = 0
    let release = (): void => undefined
    class SlowLog extends MemoryLog {
      override async append(...args: Parameters<MemoryLog['append']>) {
        await new Promise<void>((resolve) => (release = resolve))
        return super.append(...args)
      }
    }
    const { hub, clock } = makeHub(
      async function* () {
        for (; produced < 1000; produced++) yield { type: 'CUSTOM', name: 'app.x', value: produced }
      },
      { log: new SlowLog(), limits: { ...DEFAULT_SERVER_LIMITS, queuedEvents: 10 } },
    )
    await hub.start(input(), new Request('http://localhost/'))
    await clock.turn()
    expect(produced).toBeLessThan(11)
    release()
    await clock.turn()
    expect(produced).toBeLessThan(22)
    const stopped = hub.stop()
    release()
    await stopped
  })

  test('an agent that never waits leaves the event loop to others', async () => {
    let turns = 0
    const counting = setInterval(() => turns++, 0)
    const { outcome } = await runAgent(async function* () {
      // It would go on for long if the loop never turned.
      for (let n = 0; n < 1_000_000 && turns < 3; n++) yield { type: 'CUSTOM', name: 'app.x', value: 1 }
    })
    clearInterval(counting)
    expect(outcome).toBe('finished')
    expect(turns).toBeGreaterThan(2)
  })
})

describe('a log that fails', () => {
  function failingLog(fail: (call: number) => Error | undefined, closeFails = false) {
    let calls = 0
    class FailingLog extends MemoryLog {
      override async append(...args: Parameters<MemoryLog['append']>) {
        const error = fail(calls++)
        if (error !== undefined) throw error
        return super.append(...args)
      }
      override async close(...args: Parameters<MemoryLog['close']>) {
        if (closeFails) throw new Error('disk gone')
        return super.close(...args)
      }
    }
    return new FailingLog()
  }
  const writes: Agent = async (_, run) => {
    for (let i = 0; i < 5; i++) {
      await run.custom('app.x', i)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  test('in mid-run: the run ends with RUN_ERROR and without a gap', async () => {
    const { events, outcome, logger } = await runAgent(writes, { log: failingLog((call) => (call === 2 ? new Error('disk full') : undefined)) })
    expect(outcome).toBe('error')
    expect(types(events)).toEqual(['RUN_STARTED', 'CUSTOM', 'RUN_ERROR'])
    expect(events.at(-1)).toMatchObject({ code: 'log.failed' })
    expect(logger.lines.length).toBeGreaterThan(0)
  })

  test('under the last events: no success is claimed', async () => {
    const { events, outcome } = await runAgent(async (_, run) => void run.custom('app.x', 1), {
      log: failingLog((call) => (call > 0 ? new Error('disk full') : undefined)),
    })
    expect(outcome).toBe('error')
    expect(types(events)).toEqual(['RUN_STARTED', 'RUN_ERROR'])
  })

  test('when somebody took the run over: the agent is stopped and nothing is written', async () => {
    const log = failingLog((call) => (call === 1 ? new LogError('fenced', 'taken') : undefined))
    const { hub } = makeHub(writes, { log })
    await hub.start(input(), new Request('http://localhost/'))
    await eventually(() => hub.counts.producers === 0)
    expect(types(parseEntries((await log.read('r1')).entries))).toEqual(['RUN_STARTED'])
    expect((await log.get('r1'))?.status).toBe('running')
  })

  test('also at the end: the lease expires, and a reader ends the run', async () => {
    const { hub, log, clock } = makeHub(writes)
    const broken = log.close.bind(log)
    log.close = () => Promise.reject(new Error('disk gone'))
    await hub.start(input(), new Request('http://localhost/'))
    await eventually(() => hub.counts.producers === 0)
    log.close = broken
    await hub.reap('r1')
    expect((await log.get('r1'))?.status).toBe('running')
    await clock.advance(30_001)
    const reader = hub.open('r1', START)
    await hub.reap('r1')
    await reader.next()
    expect(parseEntries((await log.read('r1')).entries).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'run.abandoned' })
    reader.close()
  })
})
