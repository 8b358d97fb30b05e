import { UsageError } from '@millrace/protocol'
import { describe, expect, test } from 'vitest'
import { systemClock } from './clock.ts'
import type { RunHandlerOptions } from './check-options.ts'
import { createRunHandler } from './handler.ts'
import { MemoryLog } from './log/memory.ts'

const agent = async (): Promise<void> => undefined
const authorize = (): boolean => true

describe('options of createRunHandler', () => {
  test.each<[string, unknown, string]>([
    ['undefined', undefined, 'handler.options'],
    ['null', null, 'handler.options'],
    ['a function', agent, 'handler.options'],
    ['no agent', { authorize }, 'handler.agent'],
    ['no authorize', { agent }, 'handler.authorize'],
    ['a log without methods', { agent, authorize, log: {} }, 'handler.log'],
    ['null as a log', { agent, authorize, log: null }, 'handler.log'],
    ['a logger without methods', { agent, authorize, logger: {} }, 'handler.logger'],
    ['a clock without methods', { agent, authorize, clock: Date }, 'handler.clock'],
    ['createId that is a text', { agent, authorize, createId: 'id' }, 'handler.createId'],
    ['onDisconnect that is misspelt', { agent, authorize, onDisconnect: 'canel' }, 'handler.onDisconnect'],
  ])('%s is refused as a UsageError', (_name, options, code) => {
    const create = (): unknown => createRunHandler(options as RunHandlerOptions)
    expect(create).toThrow(UsageError)
    expect(create).toThrow(expect.objectContaining({ code }))
  })

  test('what is missing is named', () => {
    const log = { create: agent, append: agent, renew: agent, close: agent }
    const create = (): unknown => createRunHandler({ agent, authorize, log } as unknown as RunHandlerOptions)
    expect(create).toThrow('`log` lacks the methods takeOver, requestCancel, get, input, list, read, tail, trim')
  })

  test('the classes and objects meant for it pass', () => {
    createRunHandler({ agent, authorize, log: new MemoryLog(), logger: console, clock: systemClock, onDisconnect: 'cancel', createId: () => 'x' })
  })
})
