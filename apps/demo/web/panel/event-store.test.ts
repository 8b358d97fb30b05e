import type { VerifiedEvent } from '@millrace/protocol'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { detailOf, EventStore, familyOf } from './event-store.ts'

const text = (delta: string): VerifiedEvent => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta })

describe('EventStore', () => {
  let frames: (() => void)[]
  beforeEach(() => {
    frames = []
    vi.stubGlobal('requestAnimationFrame', (callback: () => void) => frames.push(callback))
  })
  afterEach(() => {
    vi.unstubAllGlobals()
  })
  const frame = (): void => {
    for (const run of frames.splice(0)) run()
  }

  test('tells its listeners once per frame, and keeps its snapshot in between', () => {
    const store = new EventStore()
    const listener = vi.fn()
    store.subscribe(listener)
    const before = store.getSnapshot()
    for (let index = 0; index < 10; index += 1) store.push(text('a'))
    expect(store.getSnapshot()).toBe(before)
    frame()
    expect(listener).toHaveBeenCalledTimes(1)
    expect(store.getSnapshot()).toMatchObject({ total: 10 })
    expect(store.getSnapshot().events.map(({ serial }) => serial)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  test('keeps the newest, with or without frames', () => {
    const store = new EventStore()
    for (let index = 0; index < 5000; index += 1) store.push(text(String(index)))
    frame()
    const { events, total } = store.getSnapshot()
    expect(total).toBe(5000)
    expect(events.length).toBe(400)
    expect(events.at(-1)?.serial).toBe(4999)
  })

  test('clears', () => {
    const store = new EventStore()
    store.push(text('a'))
    store.clear()
    frame()
    expect(store.getSnapshot()).toEqual({ events: [], total: 0 })
  })
})

test.each<[VerifiedEvent, string, string]>([
  [text(' hi\n'), 'text', '" hi\\n"'],
  [{ type: 'RUN_STARTED', threadId: 't', runId: 'r' }, 'run', 'r'],
  [{ type: 'RUN_FINISHED', threadId: 't', runId: 'r' }, 'run', 'success'],
  [{ type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'cancelled' } }, 'run', 'cancelled'],
  [{ type: 'RUN_ERROR', message: 'no' }, 'run', 'no'],
  [{ type: 'STATE_DELTA', delta: [{ op: 'remove', path: '/a' }, { op: 'test', path: '', value: 1 }] }, 'state', 'remove /a, test '],
  [{ type: 'STATE_SNAPSHOT', snapshot: null }, 'state', ''],
  [{ type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'find' }, 'tool', 'find'],
  [{ type: 'ACTIVITY_DELTA', messageId: 'm', activityType: 'PLAN', patch: [{ op: 'replace', path: '/x', value: 1 }] }, 'activity', 'replace /x'],
  [{ type: 'CUSTOM', name: 'n', value: 1 }, 'other', 'n'],
])('%o belongs to %s, in short %o', (event, family, detail) => {
  expect(familyOf(event.type)).toBe(family)
  expect(detailOf(event)).toBe(detail)
})
