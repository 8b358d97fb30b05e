import { expect, describe, test } from 'vitest'
import { frames, post, readUntilError, serverFor } from '../../test/raw.ts'
import { catalogue, recordedRun, type Fault } from '../index.ts'

const events = recordedRun()
const { harmless, lost, silent, repeated, later, final } = catalogue
const serve = (fault: Fault) => serverFor({ events, faults: [fault] })

describe('harmless', () => {
  test.each(Object.entries(harmless))('%s: the same events', async (_, fault) => {
    const { text, failed } = await readUntilError(await post(await serve(fault)))
    expect(failed).toBe(false)
    expect(frames(text).map(({ data }) => JSON.parse(data) as unknown)).toEqual(events)
  })
})

describe('lost', () => {
  test.each(Object.entries(lost))('%s: it fails, or ends without the terminal event', async (name, fault) => {
    const server = await serve(fault)
    const got = await post(server).then(readUntilError, () => ({ text: '', failed: true }))
    const whole = frames(got.text).filter(({ unterminated }) => unterminated !== true)
    if (!name.startsWith('content-length')) expect(whole.length).toBeLessThan(events.length)
    expect(got.failed).toBe(!name.startsWith('clean end'))
    expect(await (await post(server)).text()).toMatch(/RUN_FINISHED/)
  })
})

describe('silent', () => {
  test.each(Object.entries(silent))('%s', async (_, fault) => {
    const server = await serve(fault)
    const answer = post(server).then((response) => response.text())
    await server.until(({ requests }) => requests[0]?.ending === 'stalled')
    expect(server.requests[0]?.events).toBeLessThan(events.length)
    server.unstall()
    expect(frames(await answer)).toHaveLength(events.length)
  })
})

describe('repeated', () => {
  test.each(Object.entries(repeated))('%s', async (_, fault) => {
    const server = await serverFor({ events, faults: [{}, fault] })
    await (await post(server)).text()
    const text = await (await fetch(`${server.url}?runId=r1&offset=30`)).text()
    expect(frames(text).length).toBeGreaterThan(events.length - 30)
  })
})

test.each(Object.entries({ ...later, ...final }))('no stream: %s', async (_, fault) => {
  const response = await post(await serve(fault))
  expect(response.ok && response.headers.get('content-type') === 'text/event-stream').toBe(false)
})
