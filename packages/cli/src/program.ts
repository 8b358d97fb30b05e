// The command line as a whole: which commands there are, and how whatever goes wrong is told.
import { Command, CommanderError } from 'commander'
import { CommandError, messageOf } from './command-error.ts'
import { addCheck } from './commands/check.ts'
import { addChat, addServe } from './commands/add-talking.ts'
import { addFold } from './commands/fold.ts'
import { addRecord, addReplay } from './commands/add-recording.ts'
import { FAILED, type Terminal } from './terminal.ts'
import { version } from './version.ts'

export function createProgram(terminal: Terminal): Command {
  const program = new Command('millrace')
    .description('Look into AG-UI event streams, talk to agents, serve them, record and replay them.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [COMMAND]', 'print help for a command')
    .usage('COMMAND [OPTIONS]')
    .addHelpText(
      'after',
      `
Examples:
  $ millrace check run.sse                      which rules does this stream break?
  $ millrace fold run.sse --json                what does a client make of it?
  $ millrace serve                              an agent to try clients on
  $ millrace chat http://127.0.0.1:8787/        talk to it
  $ millrace record URL -o run.ndjson           what comes of a message, in a file
  $ millrace replay run.ndjson                  the same again, as an agent

Run millrace help COMMAND for the options of a command.`,
    )
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err, outputError: (text, write) => write(text.replace(/^error: /, 'millrace: ')) })
    .exitOverride()
    .showSuggestionAfterError(true)
  addCheck(program, terminal)
  addFold(program, terminal)
  addChat(program, terminal)
  addServe(program, terminal)
  addRecord(program, terminal)
  addReplay(program, terminal)
  return program
}

/** Runs a command line. Sets the exit status; never throws, and shows a stack trace only if DEBUG is set. */
export async function run(program: Command, args: readonly string[], terminal: Terminal): Promise<void> {
  if (args.length === 0) {
    terminal.err(program.helpInformation())
    process.exitCode = FAILED
    return
  }
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help and version come this way too, with status 0; a wrong command line has been told already.
      process.exitCode = error.exitCode === 0 ? 0 : FAILED
      return
    }
    process.exitCode = FAILED
    terminal.err(describe(error, terminal))
  }
}

function describe(error: unknown, { errColours }: Terminal): string {
  const debug = process.env['DEBUG']
  if (debug !== undefined && debug !== '' && error instanceof Error) return `${error.stack ?? error.message}\n`
  const label = errColours.red('millrace:')
  if (!(error instanceof CommandError)) {
    return `${label} something went wrong inside: ${messageOf(error)}\n  Set DEBUG=1 to see where; please report it.\n`
  }
  const hint = error.hint === undefined || error.hint === '' ? '' : `  ${errColours.dim(error.hint)}\n`
  return `${label} ${error.message}\n${hint}`
}
