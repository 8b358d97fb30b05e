// What an agent does, as text on a terminal while it does it. Events in, text out; knows no network and no prompt.
import type { ContentPart, JsonPatchOperation, VerifiedEvent } from '@millrace/protocol'
import { oneLine, printable, type Colours } from '../terminal.ts'

export class TurnPrinter {
  readonly #write: (text: string) => void
  readonly #colours: Colours
  /** What the cursor stands in: the message whose text is being written. */
  #open: string | undefined
  /** Names and arguments of the calls that are open. */
  readonly #calls = new Map<string, { name: string; args: string }>()
  /** Something was printed. */
  spoke = false

  constructor(write: (text: string) => void, colours: Colours) {
    this.#write = write
    this.#colours = colours
  }

  event(event: VerifiedEvent): void {
    const { dim, bold } = this.#colours
    switch (event.type) {
      case 'TEXT_MESSAGE_CONTENT':
        return this.#stream(`text ${event.messageId}`, event.delta, (text) => text)
      case 'REASONING_MESSAGE_CONTENT':
        return this.#stream(`reasoning ${event.messageId}`, event.delta, dim)
      case 'TEXT_MESSAGE_END':
      case 'REASONING_MESSAGE_END':
        return this.#endLine()
      case 'TOOL_CALL_START':
        this.#calls.set(event.toolCallId, { name: event.toolCallName, args: '' })
        return
      case 'TOOL_CALL_ARGS': {
        const call = this.#calls.get(event.toolCallId)
        if (call !== undefined && call.args.length < 1000) call.args += event.delta
        return
      }
      case 'TOOL_CALL_END': {
        const call = this.#calls.get(event.toolCallId)
        this.#calls.delete(event.toolCallId)
        if (call !== undefined) this.#line('⚙', `${bold(oneLine(call.name))}(${oneLine(call.args, 300)})`)
        return
      }
      case 'TOOL_CALL_RESULT':
        return this.#line(' ', `→ ${oneLine(textOf(event.content), 300)}`)
      case 'STATE_SNAPSHOT':
        return this.#line('◆', `state ${oneLine(JSON.stringify(event.snapshot), 300)}`)
      case 'STATE_DELTA':
        for (const operation of event.delta) this.#line('◆', `state ${describe(operation)}`)
        return
      case 'ACTIVITY_SNAPSHOT':
        return this.#line('▸', `${bold(oneLine(event.activityType))} ${oneLine(JSON.stringify(event.content), 300)}`)
      case 'ACTIVITY_DELTA':
        for (const operation of event.patch) this.#line('▸', `${bold(oneLine(event.activityType))} ${describe(operation)}`)
        return
      case 'STEP_STARTED':
        return this.#line('·', oneLine(event.stepName))
      case 'SUBAGENT_STARTED':
        return this.#line('·', `subagent ${oneLine(event.name)}`)
      case 'SUBAGENT_ERROR':
        return this.#line('·', `subagent failed: ${oneLine(event.message)}`)
      default:
        return
    }
  }

  /** A line beside the conversation, at the beginning of a line. */
  note(text: string): void {
    this.#endLine()
    this.#write(`${text}\n`)
    this.spoke = true
  }

  /** Ends what is open, so that the next thing begins a line. */
  end(): void {
    this.#endLine()
  }

  #stream(key: string, delta: string, paint: (text: string) => string): void {
    if (delta === '') return
    if (this.#open !== key) this.#endLine()
    this.#open = key
    this.spoke = true
    // Painted by the line: a colour that spans line ends confuses pagers.
    this.#write(printable(delta).split('\n').map((line) => (line === '' ? '' : paint(line))).join('\n'))
  }

  #line(mark: string, text: string): void {
    this.note(this.#colours.dim(`${mark} ${text}`))
  }

  #endLine(): void {
    if (this.#open !== undefined) this.#write('\n')
    this.#open = undefined
  }
}

function textOf(content: string | readonly ContentPart[]): string {
  if (typeof content === 'string') return content
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join(' ')
}

function describe(operation: JsonPatchOperation): string {
  const { op, path } = operation
  const name = oneLine(path === '' ? '(all)' : path)
  switch (op) {
    case 'remove':
      return `${name} removed`
    case 'move':
    case 'copy':
      return `${name} ${op === 'move' ? 'moved' : 'copied'} from ${oneLine(operation.from)}`
    case 'test':
      return `${name} tested`
    default:
      return `${name} = ${oneLine(JSON.stringify(operation.value), 200)}`
  }
}
