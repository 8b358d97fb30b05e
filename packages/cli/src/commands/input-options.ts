// What `check` and `fold` ask in common: INPUT, its format, and what to send if it is a URL.
import { Argument, InvalidArgumentError, Option, type Command } from 'commander'
import { FORMATS, type Format } from '../input/detect.ts'
import { openSource, type Source } from '../input/source.ts'

export interface InputOptions {
  readonly format?: Format
  readonly message: string
  readonly header: string[]
}

/** Collects an option that may be given more than once. */
export function collect(value: string, before: string[]): string[] {
  return [...before, value]
}

/** Adds the argument and the options. */
export function withInput(command: Command): Command {
  return command
    .addArgument(new Argument('<INPUT>', 'a file, - for standard input, or a URL, which is POSTed a run input'))
    .addOption(new Option('--format <FORMAT>', `read as ${FORMATS.join(', ')} instead of detecting it`).argParser(parseFormat))
    .addOption(new Option('--message <TEXT>', 'URL: what the user says').default('Hello'))
    .addOption(
      new Option('--header <NAME: VALUE>', 'URL: a request header; may be repeated').argParser(collect).default([], 'none'),
    )
}

function parseFormat(value: string): Format {
  const format = FORMATS.find((known) => known === value)
  if (format !== undefined) return format
  throw new InvalidArgumentError(`Allowed choices are ${FORMATS.join(', ')}.`)
}

/** Opens INPUT. The first Ctrl-C ends a request: what came by then is reported. */
export function openInput(input: string, { message, header, format }: InputOptions): Promise<Source> {
  const stop = new AbortController()
  if (input !== '-') process.once('SIGINT', () => stop.abort())
  return openSource(input, { message, headers: header, format, signal: stop.signal })
}
