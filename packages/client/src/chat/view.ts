/** Messages of a thread as a view shows them, with the dates that AG-UI messages have no field for. */
import { toUIMessages, type CallApproval, type Message, type UIMessage } from '@millrace/protocol'

type Approvals = ReadonlyMap<string, CallApproval>

const NOTHING = { messages: [], approvals: new Map<string, CallApproval>(), ui: [] } as const

export class MessageView {
  readonly #dates = new Map<string, Date>()
  readonly #dated = new WeakMap<UIMessage, UIMessage>()
  #last: { readonly messages: readonly Message[]; readonly approvals: Approvals; readonly ui: readonly UIMessage[] } = NOTHING

  /** Notes when a message was made; undefined leaves what is known. */
  date(id: string, createdAt: Date | undefined): void {
    if (createdAt === undefined) return
    this.#dates.set(id, createdAt)
    this.#last = NOTHING
  }

  /** The same objects, and the same array, for what did not change. */
  of(messages: readonly Message[], approvals: Approvals = NOTHING.approvals): readonly UIMessage[] {
    const { messages: before, approvals: told, ui } = this.#last
    if (messages === before && approvals === told) return ui
    // An answer streams into the last turn; there may be thousands before it, which need no look.
    const from = approvals === told ? sameTurns(before, messages) : 0
    const kept = from === 0 ? [] : ui.slice(0, ui.length - toUIMessages(before.slice(from)).length)
    const next = kept.concat(toUIMessages(messages.slice(from), approvals).map((message) => this.#withDate(message)))
    this.#last = { messages, approvals, ui: next }
    return next
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
