import { afterEach, beforeAll, expect, test } from 'vitest'
import type { RunningDemo } from './harness.ts'
import { buildDemo, demoTargets, startDemo } from './harness.ts'

const started: RunningDemo[] = []

async function start(env?: Record<string, string>): Promise<RunningDemo> {
  const demo = await startDemo(env)
  started.push(demo)
  return demo
}

beforeAll(() => {
  buildDemo(demoTargets)
})

afterEach(async () => {
  await Promise.all(started.splice(0).map((demo) => demo.stop('SIGKILL')))
})

test('serves the page with a strict policy, and nothing outside of it', async () => {
  const { url } = await start()
  const page = await fetch(url)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(page.headers.get('x-content-type-options')).toBe('nosniff')
  const html = await page.text()
  expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|\sstyle=|https?:\/\//u)
  const script = /src="(\/assets\/[^"]+\.js)"/u.exec(html)?.[1] ?? ''
  expect((await fetch(url + script)).headers.get('cache-control')).toContain('immutable')
  for (const path of ['/missing', '/..%2fserver.js', '/%2e%2e/server.js', '//server.js']) {
    expect((await fetch(url + path)).status).toBe(404)
  }
  expect((await fetch(url, { method: 'PUT' })).status).toBe(405)
  expect((await fetch(`${url}/api/chat`, { method: 'POST', body: 'no JSON' })).status).toBe(415)
})

test('takes the next port when its own is taken, and only then', async () => {
  const first = await start()
  const port = Number(new URL(first.url).port)
  const second = await start({ PORT: String(port) })
  expect(Number(new URL(second.url).port)).toBeGreaterThan(port)
})

test.each(['SIGINT', 'SIGTERM'] as const)('ends cleanly on %s, even while a run is under way', async (signal) => {
  // At this pace the story takes longer than any test may.
  const demo = await start({ DEMO_PACE: '20' })
  const body = JSON.stringify({
    threadId: 't',
    runId: 'r',
    messages: [{ id: 'm', role: 'user', content: 'Tell me a long story' }],
    tools: [],
    context: [],
  })
  const response = await fetch(`${demo.url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body,
  })
  const reader = response.body?.getReader()
  await reader?.read()
  expect(await demo.stop(signal)).toBe(0)
  await reader?.cancel().catch(() => undefined)
})

test.each(['abc', '70000', '-1'])('refuses PORT=%s', async (port) => {
  await expect(startDemo({ PORT: port })).rejects.toThrow('ended with 2')
})
