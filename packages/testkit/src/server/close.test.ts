/** After `close()` nothing is left that keeps a process alive. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'vite'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { sourceAliases } from '../../../../tools/source-aliases.mjs'
import { input, post, rawPost } from '../../test/raw.ts'
import { cutAt, drip, neverAnswer, stallAfter, startFaultServer, type Fault, type FaultServer } from '../index.ts'

const kept: [string, Fault | undefined, number][] = [
  ['fine', undefined, Infinity],
  ['held back', undefined, 3],
  ['stalled', stallAfter(2), Infinity],
  ['never answered', neverAnswer, Infinity],
  ['dripping', drip(1, 100_000), Infinity],
  ['cut', cutAt(100), Infinity],
]

const busy = (server: FaultServer, count: number): Promise<void> => server.until(({ requests }) => requests.filter(({ did }) => did !== undefined).length === count)

test.each(kept)('sockets and timers are gone: %s', async (_, fault, hold) => {
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  const server = await startFaultServer({ faults: () => fault, hold })
  const raw = rawPost(server)
  const http2 = connect(server.http2Url)
  http2.on('error', () => undefined)
  http2.request({ ':method': 'POST', ':path': '/agent' }).on('error', () => undefined).end(JSON.stringify(input('h2')))
  const webSocket = new WebSocket(server.wsUrl)
  webSocket.on('error', () => undefined)
  webSocket.on('open', () => webSocket.send(JSON.stringify(input('ws'))))
  const closed = new Promise((resolve) => webSocket.on('close', resolve))
  // A handshake that gets no answer is not known to be a conversation.
  await busy(server, fault === neverAnswer ? 2 : 3)
  await server.close()
  expect(server.connections).toMatchObject({ open: 0, answering: 0 })
  await Promise.all([raw.done, closed])
  http2.destroy()
  expect(timers()).toBeLessThanOrEqual(before)
  await expect(post(server)).rejects.toThrow()
  await server.close()
})

test('a process that closes its server exits', { timeout: 60_000 }, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'testkit-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  await build({
    configFile: false,
    logLevel: 'silent',
    resolve: { alias: sourceAliases() },
    ssr: { noExternal: true },
    build: { ssr: fileURLToPath(new URL('../index.ts', import.meta.url)), outDir: dir, rolldownOptions: { output: { entryFileNames: 'testkit.mjs' } } },
  })
  writeFileSync(
    join(dir, 'main.mjs'),
    `import { startFaultServer, stallAfter } from './testkit.mjs'
    const server = await startFaultServer({ faults: [stallAfter(1)] })
    const answer = await fetch(server.url, { method: 'POST', body: '{"threadId":"t","runId":"r"}' })
    await server.until(({ requests }) => requests[0]?.ending === 'stalled')
    await server.close()
    await answer.text().then(() => console.log('whole'), () => console.log('cut'))`,
  )
  const { stdout } = await promisify(execFile)(process.execPath, [join(dir, 'main.mjs')], { timeout: 30_000 })
  expect(stdout).toBe('cut\n')
})
