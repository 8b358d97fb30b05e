import { stream } from '@millrace/client'
import { describe, expect, it } from 'vitest'
import { caught, hello, interrupted, iterate } from '../../test/events.ts'
import { scripted, texts } from '../../test/scripted.ts'

describe('interrupts', () => {
  const ask = (id: string, more: object = {}): object => ({ id, reason: 'approval', ...more })

  it('waits for every answer, then goes on with all of them', async () => {
    const { chat, calls } = scripted([interrupted('r1', ask('i1'), ask('i2')), hello('r2', 'Done')])
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'interrupted' })
    expect(chat.getSnapshot()).toMatchObject({ status: 'ready', interrupts: [{ id: 'i1' }, { id: 'i2' }] })
    expect(await caught(() => chat.sendMessage('More'))).toMatchObject({ code: 'interrupts-pending' })
    expect(await caught(() => chat.reload())).toMatchObject({ code: 'interrupts-pending' })
    expect(await chat.respond('i2', { status: 'cancelled' })).toEqual({ outcome: 'interrupted' })
    expect(chat.getSnapshot().interrupts).toMatchObject([{ id: 'i1' }])
    expect(await chat.respond('i1', { status: 'resolved', payload: { ok: true } })).toEqual({ outcome: 'finished' })
    expect(calls[1]?.[3]).toMatchObject({
      threadId: 't1',
      parentRunId: 'r1',
      resume: [
        { interruptId: 'i1', status: 'resolved', payload: { ok: true } },
        { interruptId: 'i2', status: 'cancelled' },
      ],
    })
    expect(chat.getSnapshot().interrupts).toEqual([])
    expect(texts(chat)).toEqual(['Hi', 'Done'])
  })

  it('resume answers all at once and refuses an incomplete, doubled or unknown answer', async () => {
    const { chat, calls } = scripted([interrupted('r1', ask('i1'), ask('i2')), hello('r2')])
    expect(await caught(() => chat.resume([]))).toMatchObject({ code: 'nothing-to-resume' })
    await chat.sendMessage('Hi')
    const yes = (interruptId: string) => ({ interruptId, status: 'resolved' }) as const
    expect(await caught(() => chat.resume([yes('i1')]))).toMatchObject({ code: 'unanswered-interrupts' })
    expect(await caught(() => chat.resume([yes('i1'), yes('i1')]))).toMatchObject({ code: 'duplicate-answer' })
    expect(await caught(() => chat.resume([yes('i1'), yes('i9')]))).toMatchObject({ code: 'unknown-interrupt' })
    expect(await caught(() => chat.respond('i9', { status: 'resolved' }))).toMatchObject({ code: 'unknown-interrupt' })
    expect(calls).toHaveLength(1)
    expect(await chat.resume([yes('i2'), yes('i1')])).toEqual({ outcome: 'finished' })
  })

  it('an expired interrupt can only be cancelled; a time that is no date never passes', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z')
    const { chat, calls } = scripted(
      [interrupted('r1', ask('i1', { expiresAt: '2026-01-01T00:00:10Z' }), ask('i2', { expiresAt: 'soon' })), hello('r2')],
      { now: () => now },
    )
    await chat.sendMessage('Hi')
    now += 10_000
    expect(await caught(() => chat.respond('i1', { status: 'resolved' }))).toMatchObject({ name: 'UsageError', code: 'interrupt-expired' })
    await chat.respond('i1', { status: 'cancelled' })
    expect(await chat.respond('i2', { status: 'resolved' })).toEqual({ outcome: 'finished' })
    expect(calls).toHaveLength(2)
  })

  it('one id that is asked twice is answered once, with a warning', async () => {
    const rules: string[] = []
    const { chat, calls } = scripted([interrupted('r1', ask('i1'), ask('i2'), ask('i1')), hello('r2')], { onDiagnostic: ({ rule }) => rules.push(rule) })
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'interrupted' })
    expect(chat.getSnapshot().interrupts).toMatchObject([{ id: 'i1' }, { id: 'i2' }])
    expect(rules).toEqual(['state.interrupt-repeated'])
    await chat.respond('i1', { status: 'resolved' })
    expect(await chat.respond('i2', { status: 'cancelled' })).toEqual({ outcome: 'finished' })
    expect(calls[1]?.[3]?.resume).toEqual([{ interruptId: 'i1', status: 'resolved' }, { interruptId: 'i2', status: 'cancelled' }])
  })

  it('asks again if the answers did not arrive', async () => {
    const { chat } = scripted([interrupted('r1', ask('i1'))])
    await chat.sendMessage('Hi')
    chat.updateOptions({ connection: { connect: () => Promise.reject(new Error('offline')) as never } })
    expect(await chat.respond('i1', { status: 'resolved' })).toMatchObject({ outcome: 'error' })
    expect(chat.getSnapshot().interrupts).toMatchObject([{ id: 'i1' }])
    chat.updateOptions({ connection: stream(() => iterate(hello('r3'))) })
    expect(await chat.respond('i1', { status: 'resolved' })).toEqual({ outcome: 'finished' })
  })
})
