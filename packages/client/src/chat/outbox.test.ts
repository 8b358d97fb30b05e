/** Sending while a turn runs, under each policy; and saying something else at a place of the past. */
import { describe, expect, it } from 'vitest'
import { ChatClient, stream, type ChatClientOptions, type StreamChunk } from '@millrace/client'
import type { UIMessage } from '@millrace/protocol'
import { caught, failed, hello, interrupted, started, tick, until } from '../../test/events.ts'
import { scripted, texts } from '../../test/scripted.ts'

/** A chat whose turns begin when they are sent and end when the test says so. */
function gated(options: Partial<ChatClientOptions> = {}) {
  const open: { messages: readonly UIMessage[]; finish: (events?: readonly StreamChunk[]) => void }[] = []
  const chat = new ChatClient({
    threadId: 't1',
    connection: stream(async function* (messages, _data, signal) {
      const nth = open.length + 1
      let finish: (events?: readonly StreamChunk[]) => void = () => {}
      const ended = new Promise<readonly StreamChunk[] | undefined>((resolve) => {
        finish = resolve
      })
      open.push({ messages, finish })
      const events = await ended
      if (signal?.aborted) return
      yield* events ?? hello(`r${nth}`, `Answer ${nth}`)
    }),
    ...options,
  })
  const outcomes: string[] = []
  const send = (content: string, more: Parameters<ChatClient['sendMessage']>[1] = {}): void => {
    chat.sendMessage(content, more).then(
      ({ outcome }) => outcomes.push(`${content}: ${outcome}`),
      (error: { code: string }) => outcomes.push(`${content}: ${error.code}`),
    )
  }
  const turn = async (nth: number) => {
    await until(() => open.length > nth)
    return open[nth] as (typeof open)[number]
  }
  return { chat, send, outcomes, open, turn, said: (nth: number) => open[nth]?.messages.flatMap(({ role, parts }) => (role === 'user' ? parts.map((part) => ('content' in part ? part.content : '')) : [])) }
}

const waiting = (chat: ChatClient): unknown[] => chat.getSnapshot().queue.map(({ content }) => content)

describe('a message that is sent while a turn runs', () => {
  it('is refused, unless told otherwise', async () => {
    const { chat, send, outcomes, turn } = gated()
    send('a')
    send('b')
    await tick()
    expect(outcomes).toEqual(['b: busy'])
    ;(await turn(0)).finish()
    await until(() => outcomes.length === 2)
    expect(texts(chat)).toEqual(['a', 'Answer 1'])
  })

  it('waits its turn, one after the other', async () => {
    const { chat, send, outcomes, turn, said } = gated({ whenBusy: 'queue' })
    for (const content of ['a', 'b', 'c']) send(content)
    expect(waiting(chat)).toEqual(['b', 'c'])
    expect(texts(chat)).toEqual(['a'])
    ;(await turn(0)).finish()
    ;(await turn(1)).finish()
    expect(waiting(chat)).toEqual(['c'])
    ;(await turn(2)).finish()
    await until(() => outcomes.length === 3)
    expect(outcomes).toEqual(['a: finished', 'b: finished', 'c: finished'])
    expect(said(2)).toEqual(['a', 'b', 'c'])
    expect(texts(chat)).toEqual(['a', 'Answer 1', 'b', 'Answer 2', 'c', 'Answer 3'])
    expect(waiting(chat)).toEqual([])
  })

  it('or goes into the next turn with all that wait', async () => {
    const { chat, send, outcomes, turn, said, open } = gated({ whenBusy: 'queue', queue: { drain: 'batch' } })
    for (const content of ['a', 'b', 'c']) send(content)
    ;(await turn(0)).finish()
    ;(await turn(1)).finish()
    await until(() => outcomes.length === 3)
    expect(outcomes).toEqual(['a: finished', 'b: finished', 'c: finished'])
    expect(open).toHaveLength(2)
    expect(said(1)).toEqual(['a', 'b', 'c'])
    expect(texts(chat)).toEqual(['a', 'Answer 1', 'b', 'c', 'Answer 2'])
  })

  it('is dropped', async () => {
    const { chat, send, outcomes, turn } = gated({ whenBusy: 'drop' })
    send('a')
    send('b')
    ;(await turn(0)).finish()
    await until(() => outcomes.length === 2)
    expect(outcomes).toEqual(['b: cancelled', 'a: finished'])
    expect(texts(chat)).toEqual(['a', 'Answer 1'])
  })

  it('takes the place of the turn that runs; what waits goes on waiting', async () => {
    const { chat, send, outcomes, turn } = gated({ whenBusy: 'queue' })
    send('a')
    send('b')
    await turn(0)
    send('c', { whenBusy: 'interrupt' })
    ;(await turn(1)).finish()
    ;(await turn(2)).finish()
    await until(() => outcomes.length === 3)
    expect(outcomes).toEqual(['a: cancelled', 'c: finished', 'b: finished'])
    expect(texts(chat)).toEqual(['a', 'c', 'Answer 2', 'b', 'Answer 3'])
  })

  it('is judged by a function', async () => {
    const { send, outcomes, turn } = gated({ whenBusy: ({ content }, queue) => (content === 'no' || queue.length > 0 ? 'drop' : 'queue') })
    for (const content of ['a', 'no', 'b', 'c']) send(content)
    ;(await turn(0)).finish()
    ;(await turn(1)).finish()
    await until(() => outcomes.length === 4)
    expect(outcomes).toEqual(['no: cancelled', 'c: cancelled', 'a: finished', 'b: finished'])
  })

  it('is refused, or takes the place of the oldest, when too many wait', async () => {
    const full = gated({ whenBusy: 'queue', queue: { maxSize: 1 } })
    for (const content of ['a', 'b', 'c']) full.send(content)
    await tick()
    expect(full.outcomes).toEqual(['c: queue-full'])
    const rolling = gated({ whenBusy: 'queue', queue: { maxSize: 1, onOverflow: 'drop-oldest' } })
    for (const content of ['a', 'b', 'c']) rolling.send(content)
    await tick()
    expect(rolling.outcomes).toEqual(['b: cancelled'])
    expect(waiting(rolling.chat)).toEqual(['c'])
    const none = gated({ whenBusy: 'queue', queue: { maxSize: 0, onOverflow: 'drop-oldest' } })
    for (const content of ['a', 'b']) none.send(content)
    await tick()
    expect(none.outcomes).toEqual(['b: queue-full'])
  })

  it('can be taken out again', async () => {
    const { chat, send, outcomes, turn } = gated({ whenBusy: 'queue' })
    for (const content of ['a', 'b', 'c']) send(content)
    const { id } = chat.getSnapshot().queue[0] as { id: string }
    expect(chat.cancelQueued(id)).toBe(true)
    expect(chat.cancelQueued(id)).toBe(false)
    expect(waiting(chat)).toEqual(['c'])
    ;(await turn(0)).finish()
    ;(await turn(1)).finish()
    await until(() => outcomes.length === 3)
    expect(outcomes).toEqual(['b: cancelled', 'a: finished', 'c: finished'])
  })

  it.each<[string, (chat: ChatClient) => unknown]>([
    ['stop', (chat) => chat.stop()],
    ['clear', (chat) => chat.clear()],
    ['dispose', (chat) => chat.dispose()],
    ['edit', (chat) => chat.edit(chat.getSnapshot().messages[0]?.id ?? '', 'other')],
    ['reload', (chat) => chat.reload()],
  ])('is let go by %s', async (_, act) => {
    const { chat, send, outcomes, turn } = gated({ whenBusy: 'queue' })
    for (const content of ['a', 'b']) send(content)
    await turn(0)
    void act(chat)
    await until(() => outcomes.length === 2)
    expect(outcomes.toSorted()).toEqual(['a: cancelled', 'b: cancelled'])
    expect(waiting(chat)).toEqual([])
  })

  it('is let go when the turn before it fails', async () => {
    const { chat, send, outcomes, turn } = gated({ whenBusy: 'queue' })
    for (const content of ['a', 'b']) send(content)
    ;(await turn(0)).finish([started('r1'), failed('no')])
    await until(() => outcomes.length === 2)
    expect(outcomes.toSorted()).toEqual(['a: error', 'b: cancelled'])
    expect(waiting(chat)).toEqual([])
  })

  it('waits on while the agent has a question', async () => {
    const { chat, send, outcomes, turn } = gated({ whenBusy: 'queue' })
    for (const content of ['a', 'b']) send(content)
    ;(await turn(0)).finish(interrupted('r1', { id: 'i', reason: 'x' }))
    await until(() => outcomes.length === 1)
    expect(waiting(chat)).toEqual(['b'])
    const resumed = chat.respond('i', { status: 'resolved' })
    ;(await turn(1)).finish()
    await resumed
    ;(await turn(2)).finish()
    await until(() => outcomes.length === 2)
    expect(outcomes).toEqual(['a: interrupted', 'b: finished'])
  })

  it('behind a question is let go by stop(), and listeners are told', async () => {
    const { chat, send, outcomes, turn } = gated({ whenBusy: 'queue' })
    send('a')
    send('b')
    ;(await turn(0)).finish(interrupted('r1', { id: 'i1', reason: 'x' }))
    await until(() => outcomes.length === 1)
    let told: unknown[] = waiting(chat)
    chat.subscribe(() => {
      told = waiting(chat)
    })
    expect(told).toEqual(['b'])
    chat.stop()
    expect(told).toEqual([])
    await until(() => outcomes.length === 2)
    expect(outcomes).toEqual(['a: interrupted', 'b: cancelled'])
  })

  it('that may not be sent stops nothing: an answer is on its way', async () => {
    const { chat, send, outcomes, turn } = gated()
    send('a')
    ;(await turn(0)).finish(interrupted('r1', { id: 'i1', reason: 'x' }))
    await until(() => outcomes.length === 1)
    const answered = chat.respond('i1', { status: 'resolved' })
    send('b', { whenBusy: 'interrupt' })
    await until(() => outcomes.length === 2)
    expect(outcomes[1]).toBe('b: interrupts-pending')
    ;(await turn(1)).finish()
    expect(await answered).toEqual({ outcome: 'finished' })
    expect(texts(chat)).toEqual(['a', 'Answer 2'])
  })

  it.each([{ queue: { drain: 'lifo' } }, { queue: { maxSize: -1 } }, { queue: { maxSize: Number.NaN } }, { queue: { onOverflow: 'x' } }])('%j is refused', (options) => {
    expect(() => gated(options as never)).toThrow(expect.objectContaining({ code: 'bad-options' }))
  })

  it('a policy that is none is told when it is asked', async () => {
    const { chat, send } = gated({ whenBusy: () => 'later' as never })
    send('a')
    expect((await caught(() => chat.sendMessage('b'))).code).toBe('bad-options')
    expect((await caught(() => chat.sendMessage('b', { whenBusy: 'later' as never }))).code).toBe('bad-options')
  })
})

describe('edit', () => {
  it('goes on from an earlier message as if what followed had not been', async () => {
    const { chat, calls } = scripted([hello('r1', 'One'), hello('r2', 'Two'), hello('r3', 'Three')])
    await chat.sendMessage({ content: 'a', id: 'u1' })
    await chat.sendMessage({ content: 'b', id: 'u2' })
    expect(await chat.edit('u1', { content: 'c', id: 'u3' })).toEqual({ outcome: 'finished' })
    expect(texts(chat)).toEqual(['c', 'Three'])
    expect(calls[2]?.[0].map(({ id }) => id)).toEqual(['u3'])
  })

  it('keeps the id of what it edits, unless it is given one', async () => {
    const { chat, calls } = scripted([hello('r1', 'One'), hello('r2', 'Two')])
    await chat.sendMessage({ content: 'a', id: 'u1' })
    await chat.edit('u1', 'b')
    expect(calls[1]?.[0]).toMatchObject([{ id: 'u1', parts: [{ content: 'b' }] }])
    expect(texts(chat)).toEqual(['b', 'Two'])
  })

  it('stops the turn that runs', async () => {
    const { chat, send, outcomes, turn } = gated()
    send('a')
    await turn(0)
    const edited = chat.edit(chat.getSnapshot().messages[0]?.id ?? '', 'b')
    ;(await turn(1)).finish()
    expect(await edited).toEqual({ outcome: 'finished' })
    expect(outcomes).toEqual(['a: cancelled'])
    expect(texts(chat)).toEqual(['b', 'Answer 2'])
  })

  it('refuses what is no message of the user, and changes nothing then', async () => {
    const { chat } = scripted([hello('r1', 'One')])
    await chat.sendMessage('a')
    const before = chat.getSnapshot()
    for (const id of ['nobody', before.messages[1]?.id ?? '']) expect((await caught(() => chat.edit(id, 'x'))).code).toBe('unknown-message')
    expect((await caught(() => chat.edit(before.messages[0]?.id ?? '', ' '))).code).toBe('empty-message')
    expect(chat.getSnapshot()).toBe(before)
  })
})
