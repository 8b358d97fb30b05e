// `millrace replay`: a recording as an agent on a local port, so that a page can be pointed at it.
import { createServer } from 'node:http'
import { CommandError } from '../command-error.ts'
import { openSource } from '../input/source.ts'
import { readRuns } from '../replay/recorded-runs.ts'
import { replayListener } from '../replay/server.ts'
import { isLoopback, listen, signalled } from '../serve/listening.ts'
import { count, oneLine, type Terminal } from '../terminal.ts'

export interface ReplayCommandOptions {
  readonly port: number
  readonly host: string
  readonly speed: number
  readonly fast?: true
}

/** Serves until SIGINT or SIGTERM. */
export async function replay(file: string, options: ReplayCommandOptions, terminal: Terminal): Promise<void> {
  if (/^https?:/i.test(file)) throw new CommandError(`${file} is an address`, 'Record it first: millrace record URL -o FILE')
  const runs = await readRuns(await openSource(file, { message: '', headers: [] }))
  if (runs.length === 0) throw new CommandError(`${file} holds no runs`, 'A recording is read (millrace record), or any stream of events that check reads.')
  const { colours, errColours } = terminal
  const speed = options.fast ? Number.POSITIVE_INFINITY : options.speed
  const server = createServer(
    replayListener(runs, {
      speed,
      onRun: (index, run) => terminal.out(`run ${index + 1} of ${runs.length}${run.runId === undefined ? '' : ` ${oneLine(run.runId)}`}: ${count(run.events.length, 'event')}${run.broken === undefined ? '' : `, then ${oneLine(run.broken.message)}`}\n`),
    }),
  )
  const url = await listen(server, options)
  const pace = speed === Number.POSITIVE_INFINITY ? 'as fast as it is read' : speed === 1 ? 'as it was recorded' : `${speed} times as fast as it was recorded`
  terminal.out(`Replaying ${oneLine(file)} (${count(runs.length, 'run')}, ${pace}) at ${colours.bold(colours.cyan(url))}\n`)
  terminal.out(colours.dim('Each request is answered with the next run; after the last it begins again, with other ids.\nCtrl-C stops it.\n'))
  if (!isLoopback(options.host)) terminal.err(errColours.yellow(`Whoever can reach ${options.host} can read this recording.\n`))
  await signalled()
  server.close()
  server.closeAllConnections()
}
