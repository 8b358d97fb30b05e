// `millrace fold`: what a client makes of a stream. Folds up to the first error, as a client does.
import { approvalsOf, toUIMessages, type Message, type ProtocolError, type Run } from '@millrace/protocol'
import { Option, type Command } from 'commander'
import { readFile } from 'node:fs/promises'
import { CommandError, messageOf } from '../command-error.ts'
import { readThread, type ReadResult } from '../input/read-thread.ts'
import type { Source } from '../input/source.ts'
import type { Finding } from '../report/check-report.ts'
import type { FoldError, FoldReport } from '../report/fold-report.ts'
import { foldToText } from '../report/fold-text.ts'
import type { Terminal } from '../terminal.ts'
import { openInput, withInput, type InputOptions } from './input-options.ts'

interface FoldOptions extends InputOptions {
  readonly json?: true
  readonly history?: string
  readonly state?: string
  readonly mode: 'strict' | 'tolerant' | 'report'
}

export function addFold(program: Command, terminal: Terminal): void {
  withInput(program.command('fold').description('show the messages and state that a client makes of a stream'))
    .addOption(new Option('--json', 'print one JSON object'))
    .addOption(new Option('--history <FILE>', 'messages the thread held before, as a JSON array'))
    .addOption(new Option('--state <FILE>', 'state the thread had before, as JSON'))
    .addOption(
      new Option('--mode <MODE>', 'end at the first error, accept known deviations of real servers, or go on')
        .choices(['strict', 'tolerant', 'report'])
        .default('strict'),
    )
    .addHelpText(
      'after',
      `
Examples:
  $ millrace fold run.sse
  $ millrace fold run.sse --mode tolerant --json | jq .messages
  $ millrace fold https://example.com/agent --history messages.json --state state.json

Exit status: 0 the run finished, 1 it did not, 2 the input could not be folded.`,
    )
    .action(async (input: string, options: FoldOptions) => {
      const report = await fold(input, options)
      const ended = report.outcome === 'finished' || report.outcome === 'interrupted' || report.outcome === 'cancelled'
      const clean = ended && !report.diagnostics.some(({ severity }) => severity === 'error')
      process.exitCode = clean ? 0 : 1
      terminal.out(options.json ? foldToJson(report) : foldToText(report, terminal.colours))
    })
}

export async function fold(input: string | Source, options: Omit<FoldOptions, 'json'>): Promise<FoldReport> {
  const messages = options.history === undefined ? undefined : await readHistory(options.history)
  const state = options.state === undefined ? undefined : await readJson(options.state)
  const source = typeof input === 'string' ? await openInput(input, options) : input
  const diagnostics: Finding[] = []
  let errorAt: number | null = null
  const result = await readThread(source, {
    mode: options.mode,
    format: options.format,
    ...(messages && { messages }),
    ...(state !== undefined && { state }),
    onFinding: (finding) => void diagnostics.push(finding),
    onEvent: (event, index) => {
      if (event.type === 'RUN_ERROR') errorAt = index
    },
  })
  const { thread, outcome } = result
  return {
    name: source.name,
    format: result.format,
    events: result.events,
    outcome,
    at: outcome === 'error' ? errorAt : result.at,
    error: errorOf(result, thread.runs.at(-1)),
    messages: thread.messages,
    state: thread.state,
    ui: toUIMessages(thread.messages, approvalsOf(thread.interrupts)),
    runs: thread.runs,
    interrupts: thread.interrupts,
    diagnostics,
  }
}

function errorOf({ outcome, error, failure }: ReadResult, run: Run | undefined): FoldError | null {
  if (error !== undefined) return protocolError(error)
  if (failure !== undefined) return { message: failure.message, ...(failure.code !== undefined && { code: failure.code }) }
  return outcome === 'error' && run?.error !== undefined ? run.error : null
}

function protocolError(error: ProtocolError): FoldError {
  const { message, code, rule, event, line, type, pointer, related } = error
  return {
    message,
    code,
    rule,
    ...(event !== undefined && { event }),
    ...(line !== undefined && { line }),
    ...(type !== undefined && { type }),
    ...(pointer !== undefined && { pointer }),
    ...(related !== undefined && { related }),
  }
}

function foldToJson(report: FoldReport): string {
  const { outcome, at, error, messages, state, ui, runs, interrupts, diagnostics } = report
  return `${JSON.stringify({ outcome, at, error, messages, state, ui, runs, interrupts, diagnostics }, null, 2)}\n`
}

async function readJson(path: string): Promise<unknown> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw new CommandError(missing ? `There is no file ${path}` : `${path} cannot be read: ${messageOf(error)}`)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CommandError(`${path} is not JSON: ${messageOf(error)}`)
  }
}

async function readHistory(path: string): Promise<readonly Message[]> {
  const value = await readJson(path)
  const list = typeof value === 'object' && value !== null && 'messages' in value ? value.messages : value
  const isMessage = (item: unknown): boolean =>
    typeof item === 'object' && item !== null && 'id' in item && 'role' in item && typeof item.id === 'string'
  if (!Array.isArray(list) || !list.every(isMessage)) {
    throw new CommandError(`${path} holds no messages`, 'It should be a JSON array of AG-UI messages, each with id and role.')
  }
  return list as Message[]
}
