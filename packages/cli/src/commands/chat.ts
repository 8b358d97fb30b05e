// `millrace chat`: a conversation in the terminal, or one message for each line of a pipe.
import { ChatClient, fetchHttpStream, fetchServerSentEvents, type ConnectConnectionAdapter, type InterruptAnswer, type TurnResult } from '@millrace/client'
import type { Interrupt } from '@millrace/protocol'
import { answerHint, answerOf, refusal } from '../chat/answers.ts'
import { openLines, type Lines } from '../chat/lines.ts'
import { TurnPrinter } from '../chat/turn-printer.ts'
import { CommandError, messageOf } from '../command-error.ts'
import { parseHeaders } from '../input/source.ts'
import { recordTo } from '../record/recorded.ts'
import { oneLine, printable, type Terminal } from '../terminal.ts'

export interface ChatOptions {
  readonly header: string[]
  readonly thread?: string
  readonly format: 'sse' | 'ndjson'
  /** A file for all that goes to and fro. */
  readonly record?: string
}

/** Two Ctrl-C within this many ms leave. */
const TWICE = 2_000

const HELP = `  /stop    stop the answer (or Ctrl-C)
  /state   show the state shared with the agent
  /reload  ask the last message again
  /clear   begin anew
  /exit    leave (or Ctrl-D, or Ctrl-C twice)
`

/** Talks until the input ends. Sets the exit status to 1 if the input was a pipe and a turn failed or got no answer. */
export async function chat(url: string, options: ChatOptions, terminal: Terminal): Promise<void> {
  if (!/^https?:\/\/./i.test(url)) throw new CommandError(`${url} is no address`, 'It should begin with http:// or https://.')
  const connect = options.format === 'ndjson' ? fetchHttpStream : fetchServerSentEvents
  const connection = connect(url, { headers: parseHeaders(options.header) })
  const recorded = options.record === undefined ? undefined : await recordTo(options.record, connection)
  await new Chat(url, recorded?.connection ?? connection, options, terminal).run()
  await recorded?.close()
}

class Chat {
  readonly #terminal: Terminal
  readonly #client: ChatClient
  readonly #interactive: boolean
  readonly #url: string
  #printer: TurnPrinter
  #running = false
  #lastInterrupt = 0
  #lines: Lines

  constructor(url: string, connection: ConnectConnectionAdapter, options: ChatOptions, terminal: Terminal) {
    this.#url = url
    this.#terminal = terminal
    this.#interactive = process.stdin.isTTY === true && terminal.interactive
    this.#printer = this.#newPrinter()
    this.#client = new ChatClient({
      connection,
      ...(options.thread !== undefined && { threadId: options.thread }),
      onEvent: (event) => {
        this.#hideWaiting()
        this.#printer.event(event)
      },
    })
    this.#lines = openLines({
      input: process.stdin,
      output: process.stdout,
      interactive: this.#interactive,
      onInterrupt: (typed) => this.#interrupt(typed),
      onEarlyLine: (line) => {
        if (!this.#interactive || line.trim() !== '/stop') return false
        this.#client.stop()
        return true
      },
    })
    if (!this.#interactive) process.on('SIGINT', () => this.#interrupt(undefined))
  }

  async run(): Promise<void> {
    const { dim, bold, cyan } = this.#terminal.colours
    if (this.#interactive) {
      this.#terminal.out(`${bold('millrace chat')} ${oneLine(this.#url)}\n${dim('/help for what you can do, Ctrl-D to leave')}\n\n`)
    }
    for (;;) {
      const line = await this.#lines.next(cyan('› '))
      if (line === undefined) break
      const text = line.trim()
      if (text === '/exit') break
      if (text !== '') await this.#handle(text)
    }
    if (this.#interactive) this.#terminal.out('\n')
    this.#lines.close()
    this.#client.dispose()
  }

  async #handle(text: string): Promise<void> {
    switch (text) {
      case '/help':
        return this.#terminal.out(HELP)
      case '/stop':
        return this.#terminal.out(this.#terminal.colours.dim('nothing runs\n'))
      case '/state':
        return this.#terminal.out(`${printable(JSON.stringify(this.#client.getSnapshot().state, null, 2))}\n`)
      case '/clear':
        this.#client.clear()
        return this.#terminal.out(this.#terminal.colours.dim('a new conversation\n'))
      case '/reload':
        return this.#turns(() => this.#client.reload())
      default:
        if (/^\/[a-z]+$/.test(text)) return this.#terminal.out(`There is no command ${text}.\n${HELP}`)
        return this.#turns(() => this.#client.sendMessage(text))
    }
  }

  /** A turn, and those that follow it because the agent asked something. */
  async #turns(start: () => Promise<TurnResult>): Promise<void> {
    let result = await this.#turn(start)
    while (result?.outcome === 'interrupted') {
      const answers: (() => Promise<TurnResult>)[] = []
      for (const interrupt of this.#client.getSnapshot().interrupts) {
        const question = printable(interrupt.message ?? interrupt.reason)
        const answer = await this.#ask(interrupt, question)
        if (answer === undefined) return this.#unanswered(question)
        answers.push(() => this.#client.respond(interrupt.id, answer))
      }
      if (answers.length === 0) return
      // Only the last answer makes the run go on.
      for (const answer of answers.slice(0, -1)) await answer()
      result = await this.#turn(answers.at(-1) as () => Promise<TurnResult>)
    }
  }

  /** Asks until the answer is one that the agent takes. Undefined if the input ended. */
  async #ask(interrupt: Interrupt, question: string): Promise<InterruptAnswer | undefined> {
    const { yellow, dim, red } = this.#terminal.colours
    for (;;) {
      this.#terminal.out(`${yellow('?')} ${question} ${dim(`(${answerHint(interrupt)})`)}\n`)
      const line = await this.#lines.next(yellow('› '))
      if (line === undefined) return undefined
      const answer = answerOf(line, interrupt)
      const wrong = refusal(answer, interrupt)
      if (wrong === undefined) return answer
      this.#terminal.out(`${red('✖')} ${oneLine(wrong, 500)}\n`)
    }
  }

  /** The input ended where the agent waits: a script has to learn that its run is not over. */
  #unanswered(question: string): void {
    if (this.#interactive) return
    this.#terminal.err(`millrace: the input ended before the agent had its answer: ${oneLine(question)}\n`)
    process.exitCode ??= 1
  }

  async #turn(start: () => Promise<TurnResult>): Promise<TurnResult | undefined> {
    this.#printer = this.#newPrinter()
    this.#running = true
    this.#showWaiting()
    let result: TurnResult | undefined
    let failure: unknown
    try {
      result = await start()
      failure = result.error
    } catch (error) {
      failure = error
    }
    this.#running = false
    this.#hideWaiting()
    this.#printer.end()
    const { red, dim } = this.#terminal.colours
    if (failure !== undefined) this.#printer.note(red(`✖ ${oneLine(messageOf(failure), 500)}`))
    else if (result?.outcome === 'cancelled') this.#printer.note(dim('■ stopped'))
    else if (!this.#printer.spoke) this.#printer.note(dim('(no answer)'))
    const pending = this.#client.getSnapshot().runs.at(-1)?.pendingToolCallIds ?? []
    if (result?.outcome === 'finished' && pending.length > 0) {
      this.#printer.note(dim(`The agent waits for the result of ${pending.length} tool call(s) of the client, which a terminal does not have.`))
    }
    if (this.#interactive) this.#terminal.out('\n')
    else if (failure !== undefined) process.exitCode = 1
    return result
  }

  /** Ctrl-C: stops the answer; without one it clears the line; twice in a row it leaves. */
  #interrupt(typed: string | undefined): void {
    const now = Date.now()
    const again = now - this.#lastInterrupt < TWICE
    this.#lastInterrupt = now
    if (this.#running) {
      this.#client.stop()
      return
    }
    if (typed !== undefined && typed !== '') return
    if (again || !this.#interactive) {
      this.#lines.close()
      if (!this.#interactive) process.exitCode = 130
      return
    }
    this.#terminal.out(this.#terminal.colours.dim('\n(Ctrl-C again, or Ctrl-D, to leave)\n'))
  }

  #newPrinter(): TurnPrinter {
    return new TurnPrinter((text) => this.#terminal.out(text), this.#terminal.colours)
  }

  #waiting = false

  #showWaiting(): void {
    if (!this.#interactive) return
    this.#waiting = true
    this.#terminal.out(this.#terminal.colours.dim('…'))
  }

  #hideWaiting(): void {
    if (this.#waiting) this.#terminal.out('\r\u001b[K')
    this.#waiting = false
  }
}
