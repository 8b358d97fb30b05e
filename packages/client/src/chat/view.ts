/** Messages of a thread as a view shows them, with the dates that AG-UI messages have no field for. */
import { toUIMessages, type Message, type UIMessage } from '@millrace/protocol'

export class MessageView {
  readonly #dates = new Map<string, Date>()
  readonly #dated = new WeakMap<UIMessage, UIMessage>()
  #last: { readonly messages: readonly Message[]; readonly ui: readonly UIMessage[] } = { messages: [], ui: [] }

  /** Notes when a message was made; undefined leaves what is known. */
  date(id: string, createdAt: Date | undefined): void {
    if (createdAt === undefined) return
    this.#dates.set(id, createdAt)
    this.#last = { messages: [], ui: [] }
  }

  /** The same objects, and the same array, for what did not change. */
  of(messages: readonly Message[]): readonly UIMessage[] {
    if (messages === this.#last.messages) return this.#last.ui
    const ui = toUIMessages(messages).map((message) => this.#withDate(message))
    this.#last = { messages, ui }
    return ui
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
