/** Payloads of answers to interrupts, held against the schemas for their reasons. */
import { ChatClient, stream, type StandardSchema } from '@millrace/client'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { caught, hello, interrupted, iterate, until } from '../../test/events.ts'
import { scripted } from '../../test/scripted.ts'

const answers = { approval: z.object({ approved: z.boolean(), note: z.string().default('none') }) }
const asking = (...reasons: string[]) => interrupted('r1', ...reasons.map((reason, index) => ({ id: `i${index + 1}`, reason })))
const resolved = (payload: unknown) => ({ status: 'resolved', payload }) as const

describe('answers with a schema', () => {
  it('go as the schema gives them', async () => {
    const { chat, calls } = scripted([asking('approval'), hello('r2')], { answers })
    await chat.sendMessage('Hi')
    const [interrupt] = chat.getSnapshot().interrupts
    expect(await chat.respond(interrupt as never, resolved({ approved: true }))).toEqual({ outcome: 'finished' })
    expect(calls[1]?.[3]?.resume).toEqual([{ interruptId: 'i1', status: 'resolved', payload: { approved: true, note: 'none' } }])
  })

  it('are refused before anything is sent, by name of what is wrong', async () => {
    const { chat, calls } = scripted([asking('approval'), hello('r2')], { answers })
    await chat.sendMessage('Hi')
    for (const wrong of [{ approved: 'yes' }, {}, undefined]) {
      const error = await caught(() => chat.respond('i1', resolved(wrong)))
      expect(error).toMatchObject({ name: 'UsageError', code: 'malformed-answer', message: expect.stringContaining(wrong === undefined ? 'approval' : 'approved') })
      expect(await caught(() => chat.resume([{ interruptId: 'i1', ...resolved(wrong) }]))).toMatchObject({ code: 'malformed-answer' })
    }
    expect(calls).toHaveLength(1)
    expect(chat.getSnapshot()).toMatchObject({ status: 'ready', interrupts: [{ id: 'i1' }] })
    expect(await chat.resume([{ interruptId: 'i1', ...resolved({ approved: false }) }])).toEqual({ outcome: 'finished' })
    expect(calls[1]?.[3]?.resume).toMatchObject([{ payload: { approved: false, note: 'none' } }])
  })

  it('of other reasons, and cancellations, go as they are', async () => {
    const { chat, calls } = scripted([asking('other', 'approval', 'toString'), hello('r2')], { answers })
    await chat.sendMessage('Hi')
    await chat.respond('i1', resolved(7))
    await chat.respond('i2', { status: 'cancelled' })
    await chat.respond('i3', resolved('x'))
    expect(calls[1]?.[3]?.resume).toEqual([
      { interruptId: 'i1', status: 'resolved', payload: 7 },
      { interruptId: 'i2', status: 'cancelled' },
      { interruptId: 'i3', status: 'resolved', payload: 'x' },
    ])
  })

  it('whose schema takes its time wait for it, and are checked again by the time it is done', async () => {
    let settle: (result: object) => void = () => {}
    const slow = { '~standard': { version: 1, vendor: 'x', validate: () => new Promise((resolve) => (settle = resolve as typeof settle)) } } as StandardSchema
    const { chat, calls } = scripted([asking('approval'), hello('r2')], { answers: { approval: slow } })
    await chat.sendMessage('Hi')
    const first = chat.respond('i1', resolved(1))
    const early = settle
    const second = chat.respond('i1', resolved(2))
    settle({ value: 'two' })
    await until(() => calls.length === 2)
    early({ value: 'one' })
    expect(await caught(() => first)).toMatchObject({ name: 'UsageError', code: expect.stringMatching(/busy|unknown-interrupt/) })
    expect(await second).toEqual({ outcome: 'finished' })
    expect(calls[1]?.[3]?.resume).toMatchObject([{ payload: 'two' }])
  })

  it('are sent at once if the schema is: nobody sees a moment between', async () => {
    const { chat } = scripted([asking('approval'), hello('r2')], { answers })
    await chat.sendMessage('Hi')
    const done = chat.respond('i1', resolved({ approved: true }))
    expect(chat.getSnapshot().status).toBe('submitted')
    await done
  })

  it('that are none are told as before', async () => {
    const { chat } = scripted([asking('approval')], { answers })
    await chat.sendMessage('Hi')
    expect(await caught(() => chat.respond('i9', resolved(1)))).toMatchObject({ code: 'unknown-interrupt' })
    expect(await caught(() => chat.respond(undefined as never, resolved(1)))).toMatchObject({ code: 'unknown-interrupt' })
    expect(await caught(() => chat.respond('i1', undefined as never))).toMatchObject({ code: 'malformed-answer' })
    expect(await caught(() => chat.resume([undefined] as never))).toMatchObject({ code: 'malformed-answer' })
    expect(await caught(() => chat.resume(undefined as never))).toMatchObject({ code: 'malformed-answer' })
  })

  it.each([[[]], ['x'], [{ approval: {} }]])('%j are none', (wrong) => {
    expect(() => new ChatClient({ connection: stream(() => iterate([])), answers: wrong as never })).toThrow(expect.objectContaining({ name: 'UsageError' }))
  })
})
