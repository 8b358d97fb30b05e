/**
 * The demo as one process: the built page, and the agent under /api/chat. `PORT` and `HOST` choose where; `DEMO_PACE`
 * stretches the agent's pauses (0 has none, 2 is half as fast); `DEMO_PAGE` is the folder of another page to serve.
 */
import { pathToFileURL } from 'node:url'
import { createDemoServer } from './src/demo-server.ts'

const firstPort = 3000
/** How many ports after the first are tried when it is taken and none was asked for. */
const otherPorts = 20

const host = process.env['HOST'] || '127.0.0.1'
const asked = portFrom(process.env['PORT'])
// Bundled, this file is dist/server.js and the page beside it.
const ownPage = new URL(import.meta.url.endsWith('.ts') ? './dist/web/' : './web/', import.meta.url)
const otherPage = process.env['DEMO_PAGE']
const page = otherPage ? pathToFileURL(otherPage) : ownPage

function portFrom(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  console.error(`PORT must be a number from 0 to 65535, and is "${text}".`)
  process.exit(2)
}

const pace = Number(process.env['DEMO_PACE'] || 1)
const demo = await createDemoServer({ page, ...(pace >= 0 && Number.isFinite(pace) && { pace }) })

function listen(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    demo.server.once('error', reject)
    demo.server.listen(port, host, () => {
      demo.server.off('error', reject)
      resolve()
    })
  })
}

async function listenSomewhere(): Promise<void> {
  for (let port = asked ?? firstPort; ; port += 1) {
    try {
      return await listen(port)
    } catch (error) {
      const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (!taken || port >= Math.min((asked ?? firstPort) + otherPorts, 65_535)) throw error
    }
  }
}

try {
  await listenSomewhere()
} catch (error) {
  console.error(`The demo cannot listen on ${host}: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
}

const address = demo.server.address()
const port = typeof address === 'object' && address !== null ? address.port : asked
// Every IPv4 or IPv6 address of this machine includes this one.
const name = ['127.0.0.1', '0.0.0.0', '::'].includes(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host
console.log(`Millrace is running at http://${name}:${port}  (Ctrl+C stops it)`)

let stopping = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // A second signal does not wait.
    if (stopping) process.exit(130)
    stopping = true
    void demo.close().then(() => process.exit(0))
  })
}
