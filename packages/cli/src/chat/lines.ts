// What the user types, a line at a time: at a prompt in a terminal, or from a pipe. Knows nothing of chats.
import { createInterface, type Interface } from 'node:readline'
import { Writable } from 'node:stream'

export interface Lines {
  /** The next line, or undefined at the end of the input. Shows `prompt` where there is a terminal. */
  next(prompt: string): Promise<string | undefined>
  /** Ends the input. */
  close(): void
}

export interface LinesOptions {
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WriteStream
  /** A person sits at both. */
  readonly interactive: boolean
  /** Ctrl-C; `typed` is what stands at the prompt, undefined if there is none now. */
  readonly onInterrupt: (typed: string | undefined) => void
  /** A line that came while nobody asked for one; true if it was dealt with, else it is kept. */
  readonly onEarlyLine: (line: string) => boolean
}

export function openLines(options: LinesOptions): Lines {
  const { input, output, interactive } = options
  let asking: ((line: string | undefined) => void) | undefined
  let closed = false
  const early: string[] = []

  // While the agent speaks, what is typed is not echoed into its words; it stands at the prompt that follows.
  const echo = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (asking !== undefined) output.write(chunk)
      done()
    },
  })
  Object.defineProperty(echo, 'columns', { get: () => output.columns })
  output.on('resize', () => echo.emit('resize'))

  const readline: Interface = createInterface({
    input,
    ...(interactive && { output: echo }),
    terminal: interactive,
    crlfDelay: Infinity,
    historySize: 200,
  })
  readline.on('line', (line) => {
    const ask = asking
    asking = undefined
    if (ask !== undefined) ask(line)
    else if (!options.onEarlyLine(line)) early.push(line)
  })
  readline.on('SIGINT', () => {
    const typed = asking === undefined ? undefined : readline.line
    if (typed !== undefined && typed !== '') readline.write(null, { ctrl: true, name: 'u' })
    options.onInterrupt(typed)
    if (asking !== undefined) readline.prompt(true)
  })
  readline.on('close', () => {
    closed = true
    asking?.(undefined)
    asking = undefined
  })

  return {
    next: (prompt) =>
      new Promise((resolve) => {
        const line = early.shift()
        if (line !== undefined && interactive) output.write(`${prompt}${line}\n`)
        if (line !== undefined || closed) return resolve(line)
        asking = resolve
        readline.setPrompt(prompt)
        if (interactive) readline.prompt(true)
      }),
    close: () => readline.close(),
  }
}
