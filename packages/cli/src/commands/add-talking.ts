// How `chat` and `serve` look on the command line. What they do is loaded when they are used: they bring the client
// and the server along, which `check` and `fold` do without.
import { Option, type Command } from 'commander'
import type { Terminal } from '../terminal.ts'
import type { ChatOptions } from './chat.ts'
import { collect } from './input-options.ts'
import { parsePort } from './numbers.ts'
import type { ServeOptions } from './serve.ts'

export function addChat(program: Command, terminal: Terminal): void {
  program
    .command('chat')
    .description('talk to an agent')
    .argument('<URL>', 'where the agent takes run inputs')
    .addOption(new Option('--header <NAME: VALUE>', 'a request header; may be repeated').argParser(collect).default([], 'none'))
    .addOption(new Option('--thread <ID>', 'go on with this thread'))
    .addOption(new Option('--format <FORMAT>', 'what to ask the server for').choices(['sse', 'ndjson']).default('sse'))
    .addOption(new Option('--record <FILE>', 'write all that goes to and fro to a file'))
    .addHelpText(
      'after',
      `
Examples:
  $ millrace chat http://127.0.0.1:8787/
  $ echo 'What is AG-UI?' | millrace chat https://example.com/agent

Ctrl-C stops the answer, twice leaves, as does Ctrl-D. From a pipe, each line is a message.`,
    )
    .action(async (url: string, options: ChatOptions) => (await import('./chat.ts')).chat(url, options, terminal))
}

export function addServe(program: Command, terminal: Terminal): void {
  program
    .command('serve')
    .description('serve an agent')
    .addOption(new Option('--agent <FILE>', 'a module whose default export is the agent').default(undefined, 'a built-in echo agent'))
    .addOption(new Option('--port <N>', 'port; 0 for any that is free').argParser(parsePort).default(8787))
    .addOption(new Option('--host <ADDRESS>', 'address to listen on').default('127.0.0.1'))
    .addHelpText(
      'after',
      `
Examples:
  $ millrace serve
  $ millrace serve --agent ./my-agent.js --port 3000`,
    )
    .action(async (options: ServeOptions) => (await import('./serve.ts')).serve(options, terminal))
}
