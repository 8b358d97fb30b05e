// `millrace record`: one exchange with an agent, written to a file that `check`, `fold` and `replay` read.
import { ChatClient, fetchHttpStream, fetchServerSentEvents } from '@millrace/client'
import { CommandError, messageOf } from '../command-error.ts'
import { parseHeaders } from '../input/source.ts'
import { recordTo } from '../record/recorded.ts'
import { count, oneLine, type Terminal } from '../terminal.ts'

export interface RecordOptions {
  readonly output: string
  readonly message: string
  readonly header: string[]
  readonly format: 'sse' | 'ndjson'
  readonly thread?: string
  readonly json?: true
}

/** Exit status: 0 the run finished or asks something, 1 it did not, 2 nothing came of it, or the file could not be written. */
export async function record(url: string, options: RecordOptions, terminal: Terminal): Promise<void> {
  if (!/^https?:\/\/./i.test(url)) throw new CommandError(`${url} is no address`, 'It should begin with http:// or https://.')
  const connect = options.format === 'ndjson' ? fetchHttpStream : fetchServerSentEvents
  const recorded = await recordTo(options.output, connect(url, { headers: parseHeaders(options.header) }))
  let events = 0
  const chat = new ChatClient({
    connection: recorded.connection,
    ...(options.thread !== undefined && { threadId: options.thread }),
    onEvent: () => void (events += 1),
  })
  const stop = (): void => chat.stop()
  process.once('SIGINT', stop)
  const { outcome, error } = await chat.sendMessage(options.message)
  process.removeListener('SIGINT', stop)
  chat.dispose()
  await recorded.close()
  if (events === 0 && error !== undefined) throw new CommandError(messageOf(error), `What was asked is in ${options.output}.`)
  process.exitCode = outcome === 'finished' || outcome === 'interrupted' || outcome === 'cancelled' ? 0 : 1
  const { threadId, runs } = chat.getSnapshot()
  if (options.json) {
    const report = { file: options.output, outcome, events, threadId, runs: runs.map(({ runId, outcome: each }) => ({ runId, outcome: each })), error: error === undefined ? null : { message: error.message } }
    return terminal.out(`${JSON.stringify(report, null, 2)}\n`)
  }
  terminal.out(`${oneLine(options.output)}: ${count(events, 'event')}, ${outcome}${error === undefined ? '' : `: ${oneLine(messageOf(error))}`}\n`)
}
