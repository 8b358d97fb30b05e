// Where text goes out: two streams, whether each takes colour, and what is safe to print. Knows no command.
import pc from 'picocolors'

export type Colours = ReturnType<typeof pc.createColors>

/** Where a command writes. */
export interface Terminal {
  /** Results. */
  out(text: string): void
  /** Everything that is not a result. */
  err(text: string): void
  /** Colours of `out`; they do nothing where it is no terminal. */
  readonly colours: Colours
  /** Colours of `err`. */
  readonly errColours: Colours
  /** Columns of `out`; 80 where it is no terminal. */
  readonly width: number
  /** Whether a person looks at `out`. */
  readonly interactive: boolean
}

/** NO_COLOR (any value but empty) wins over FORCE_COLOR, which wins over what the stream is. */
function wantsColour(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR: no, FORCE_COLOR: force, TERM: term } = process.env
  if (no !== undefined && no !== '') return false
  if (force !== undefined && force !== '') return force !== '0' && force !== 'false'
  return stream.isTTY === true && term !== 'dumb'
}

/** Exit status of a command that could not do its work. */
export const FAILED = 2

/**
 * The process's own streams. A reader that goes away (`| head`) ends the process quietly; output that cannot be written
 * is work that was not done.
 */
export function processTerminal(): Terminal {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit()
      // Where stderr is what fails, there is nowhere left to say it.
      if (stream === process.stdout) process.stderr.write(`millrace: the output cannot be written: ${error.message}\n`)
      process.exit(FAILED)
    })
  }
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    colours: pc.createColors(wantsColour(process.stdout)),
    errColours: pc.createColors(wantsColour(process.stderr)),
    width: process.stdout.columns || 80,
    interactive: process.stdout.isTTY === true,
  }
}

// C0 but tab and newline, DEL, C1, and the bidirectional controls that make text read as what it is not.
// oxlint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Text from a peer, with every control character spelled out: a stream must not steer the terminal. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** {@link printable} on one line, cut to `length` characters. */
export function oneLine(text: string, length: number = 200): string {
  const line = printable(text.length > length * 4 ? text.slice(0, length * 4) : text).replace(/\s*[\n\t]\s*/g, ' ')
  return line.length > length ? `${line.slice(0, length - 1)}…` : line
}

/** `1 event`, `2 events`. */
export function count(n: number, noun: string): string {
  return `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`
}
