// How `record` and `replay` look on the command line. What they do is loaded when they are used.
import { Option, type Command } from 'commander'
import type { Terminal } from '../terminal.ts'
import { collect } from './input-options.ts'
import { parseFactor, parsePort } from './numbers.ts'
import type { RecordOptions } from './record.ts'
import type { ReplayCommandOptions } from './replay.ts'

export function addRecord(program: Command, terminal: Terminal): void {
  program
    .command('record')
    .description('write one exchange with an agent to a file')
    .argument('<URL>', 'where the agent takes run inputs')
    .addOption(new Option('-o, --output <FILE>', 'the file, which is written anew').makeOptionMandatory())
    .addOption(new Option('--message <TEXT>', 'what the user says').default('Hello'))
    .addOption(new Option('--header <NAME: VALUE>', 'a request header, which is not recorded; may be repeated').argParser(collect).default([], 'none'))
    .addOption(new Option('--thread <ID>', 'the thread to speak in'))
    .addOption(new Option('--format <FORMAT>', 'what to ask the server for').choices(['sse', 'ndjson']).default('sse'))
    .addOption(new Option('--json', 'print one JSON object'))
    .addHelpText(
      'after',
      `
Examples:
  $ millrace record https://example.com/agent -o run.ndjson --message 'What is AG-UI?'
  $ millrace check run.ndjson
  $ millrace chat https://example.com/agent --record chat.ndjson     a whole conversation

Exit status: 0 the run finished, 1 it did not, 2 nothing could be recorded.`,
    )
    .action(async (url: string, options: RecordOptions) => (await import('./record.ts')).record(url, options, terminal))
}

export function addReplay(program: Command, terminal: Terminal): void {
  program
    .command('replay')
    .description('serve a recording as an agent')
    .argument('<FILE>', 'a recording, or any file that check reads')
    .addOption(new Option('--port <N>', 'port; 0 for any that is free').argParser(parsePort).default(8787))
    .addOption(new Option('--host <ADDRESS>', 'address to listen on').default('127.0.0.1'))
    .addOption(new Option('--speed <X>', 'times as fast as it was recorded').argParser(parseFactor).default(1))
    .addOption(new Option('--fast', 'wait for nothing').conflicts('speed'))
    .addHelpText(
      'after',
      `
Examples:
  $ millrace replay run.ndjson
  $ millrace replay run.ndjson --fast --port 3000

Each POST is answered with the next run of the file, as SSE, or as NDJSON to who asks for that alone; after the last it begins
again. Exit status: 0 it was told to stop, 2 it could not be served.`,
    )
    .action(async (file: string, options: ReplayCommandOptions) => (await import('./replay.ts')).replay(file, options, terminal))
}
