/** Messages of a thread as a view shows them, with the dates that AG-UI messages have no field for. */
import { toUIMessages, type Message, type UIMessage } from '@millrace/protocol'

export class MessageView {
  readonly #dates = new Map<string, Date>()
  readonly #dated = new WeakMap<UIMessage, UIMessage>()
  /** Messages whose date became known since the last look. */
  readonly #redated = new Set<string>()
  #last: { readonly messages: readonly Message[]; readonly ui: readonly UIMessage[] } = { messages: [], ui: [] }

  /** Notes when a message was made; undefined leaves what is known. */
  date(id: string, createdAt: Date | undefined): void {
    if (createdAt === undefined) return
    this.#dates.set(id, createdAt)
    this.#redated.add(id)
  }

  /** The same objects, and the same array, for what did not change. */
  of(messages: readonly Message[]): readonly UIMessage[] {
    if (messages === this.#last.messages && this.#redated.size === 0) return this.#last.ui
    const kept = this.#kept(messages)
    const ui = kept.ui.concat(toUIMessages(messages.slice(kept.length)).map((message) => this.#withDate(message)))
    this.#redated.clear()
    this.#last = { messages, ui }
    return ui
  }

  /** What needs no look: an answer streams into the last turn, and there may be thousands before it. */
  #kept(messages: readonly Message[]): { readonly length: number; readonly ui: readonly UIMessage[] } {
    const { messages: before, ui } = this.#last
    const length = sameTurns(before, messages)
    const kept = length === 0 ? [] : ui.slice(0, ui.length - toUIMessages(before.slice(length)).length)
    return this.#redated.size > 0 && kept.some(({ id }) => this.#redated.has(id)) ? { length: 0, ui: [] } : { length, ui: kept }
  }

  #withDate(message: UIMessage): UIMessage {
    const createdAt = this.#dates.get(message.id)
    if (createdAt === undefined) return message
    const known = this.#dated.get(message)
    if (known?.createdAt === createdAt) return known
    const dated = { ...message, createdAt }
    this.#dated.set(message, dated)
    return dated
  }
}

/** How many messages from the start are the same and end a turn in both: the last of them is the user's, which is a turn of its own. */
function sameTurns(before: readonly Message[], after: readonly Message[]): number {
  let same = 0
  while (same < before.length && same < after.length && before[same] === after[same]) same++
  while (same > 0 && before[same - 1]?.role !== 'user') same--
  return same
}
