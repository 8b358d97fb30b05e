/** Starts the server of a column beside the process of a contender, so that neither has the other's work on its clock. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Served } from './sample.ts'

const PROGRAM = fileURLToPath(new URL('server.js', import.meta.url))

/** @throws Error if it does not come up. It ends when this process does. */
export async function startServer(path: readonly string[]): Promise<string> {
  const child = fork(PROGRAM, path, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended with ${code}`)
  })
  const [{ url }] = (await Promise.race([once(child, 'message'), failed])) as [Served]
  failed.catch(() => {})
  child.unref()
  child.channel?.unref()
  return url
}
