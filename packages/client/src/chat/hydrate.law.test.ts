/**
 * Law: a chat that listens, and asks the server for the thread, shows each message once and whole, whenever it is asked, answers,
 * or is heard. Played in every order.
 */
import { ChatClient, type HydratedThread, type StreamChunk, type SubscribeConnectionAdapter } from '@millrace/client'
import { expect, it } from 'vitest'
import { markSynthetic } from '../connection/stamps.ts'
import { finished, started } from '../../test/runs.ts'

const run = (id: string): StreamChunk[] => [
  { ...started(id), input: { threadId: 't1', runId: id, messages: [{ id: `u-${id}`, role: 'user', content: `ask ${id}` }] } } as StreamChunk,
  { type: 'TEXT_MESSAGE_START', messageId: `m-${id}`, role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: `m-${id}`, delta: `re ${id}` },
  { type: 'TEXT_MESSAGE_END', messageId: `m-${id}` },
  finished(id),
]
const RUNS = ['x', 'y']
const LOG = RUNS.flatMap(run)
const LENGTH = LOG.length / RUNS.length
const ALL = RUNS.flatMap((id) => [`ask ${id}`, `re ${id}`])

interface Manner {
  /** The server tells which runs are over. */
  readonly runs: boolean
  /** The run under way can be joined. */
  readonly joins: boolean
  /** What is asked is stored before its run begins. */
  readonly early: boolean
}
const MANNERS = [true, false].flatMap((runs) => [true, false].flatMap((joins) => [true, false].map((early): Manner => ({ runs, joins, early }))))

/** What the server has when `count` events have happened. */
function threadAt(count: number, { runs, early }: Manner): HydratedThread {
  const messages: unknown[] = []
  let activeRun: HydratedThread['activeRun'] = null
  const over: object[] = []
  RUNS.forEach((id, index) => {
    const of = count - index * LENGTH
    if (of > 0 || (early && of === 0)) messages.push({ id: `u-${id}`, role: 'user', content: `ask ${id}` })
    if (of > 0 && of < LENGTH) activeRun = { runId: id }
    if (of < LENGTH) return
    messages.push({ id: `m-${id}`, role: 'assistant', content: `re ${id}` })
    over.push({ runId: id, outcome: 'finished' })
  })
  return { messages, activeRun, interrupts: null, ...(runs && { runs: over }) }
}

/** A chat of which the test says what it hears, what it is answered, and how its link is. */
function world(manner: Manner) {
  const answers: ((thread: HydratedThread) => void)[] = []
  const queue: StreamChunk[] = []
  let tellLink: (state: 'open' | 'connecting') => void = () => {}
  let wake = (): void => {}
  const connection: SubscribeConnectionAdapter = {
    async *subscribe(signal) {
      signal?.addEventListener('abort', () => wake(), { once: true })
      while (signal?.aborted !== true) {
        const next = queue.shift()
        if (next !== undefined) yield next
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    },
    send: async () => {},
    watchLink(listener) {
      tellLink = listener
      listener('connecting')
      return () => {}
    },
    hydrate: () => new Promise((resolve) => answers.push(resolve)),
    ...(manner.joins && {
      async *joinRun(runId: string) {
        yield* run(runId)
      },
    }),
  }
  const chat = new ChatClient({ connection, threadId: 't1', live: true })
  chat.subscribe(() => {})
  return {
    chat,
    answers,
    emit: (...events: StreamChunk[]) => {
      queue.push(...events)
      wake()
    },
    link: (state: 'open' | 'connecting') => tellLink(state),
    /** Answers all that is asked by what the server has now. */
    answerAll: (count: number) => answers.splice(0).forEach((answer) => answer(threadAt(count, manner))),
  }
}

async function settled(): Promise<void> {
  for (let n = 0; n < 4; n++) await new Promise((resolve) => setImmediate(resolve))
}

const shown = (chat: ChatClient): string[] => chat.getSnapshot().messages.flatMap(({ parts }) => parts.map((part) => ('content' in part ? String(part.content) : part.type)))

function* orders(): Generator<readonly [asked: number, taken: number, answered: number]> {
  for (let asked = 0; asked <= LOG.length; asked++) {
    for (let taken = asked; taken <= LOG.length; taken++) for (let answered = asked; answered <= LOG.length; answered++) yield [asked, taken, answered]
  }
}

it.each(MANNERS)('asked at any moment, and answered at any other: %o', { timeout: 120_000 }, async (manner) => {
  for (const [asked, taken, answered] of orders()) {
    const { chat, emit, answers, link, answerAll } = world(manner)
    await settled()
    link('open')
    await settled()
    answerAll(0)
    await settled()
    emit(...LOG.slice(0, asked))
    await settled()
    void chat.attach()
    await settled()
    emit(...LOG.slice(asked, answered))
    await settled()
    answers.splice(0).forEach((answer) => answer(threadAt(taken, manner)))
    await settled()
    emit(...LOG.slice(answered))
    await settled()
    answerAll(LOG.length)
    await settled()
    expect([asked, taken, answered, shown(chat), chat.getSnapshot().status]).toEqual([asked, taken, answered, ALL, 'ready'])
    await chat.dispose()
  }
})

it.each(MANNERS)('the link is cut at any moment, and back at any other: %o', { timeout: 120_000 }, async (manner) => {
  for (let cut = 0; cut <= LOG.length; cut++) {
    for (let back = cut; back <= LOG.length; back++) {
      for (const told of new Set([back, Math.min(back + 2, LOG.length), LOG.length])) {
        const { chat, emit, link, answerAll } = world(manner)
        await settled()
        link('open')
        await settled()
        answerAll(0)
        await settled()
        emit(...LOG.slice(0, cut))
        await settled()
        if (cut % LENGTH !== 0) emit(markSynthetic({ type: 'RUN_ERROR', message: 'cut' }))
        link('connecting')
        await settled()
        link('open')
        await settled()
        emit(...LOG.slice(back, told))
        await settled()
        answerAll(told)
        await settled()
        emit(...LOG.slice(told))
        await settled()
        answerAll(LOG.length)
        await settled()
        expect([cut, back, told, shown(chat), chat.getSnapshot().status]).toEqual([cut, back, told, ALL, 'ready'])
        await chat.dispose()
      }
    }
  }
})
