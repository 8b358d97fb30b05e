/**
 * AG-UI messages of a run input → UI messages: the inverse of `ui-messages-to-wire.ts`. Where an anchor carries its UI
 * `parts`, they are the message, and what was fanned out from them is not shown twice; all else is read as `view` does.
 */
import type { Message } from '../events/event.ts'
import { isObject, present } from '../json-value.ts'
import type { UIMessage, UIPart } from '../view/ui-message.ts'
import { toUIMessages } from '../view/ui-messages.ts'
import { toMessages, type WireMessage } from './ui-messages-to-wire.ts'

/** An anchor with the UI message it stands for, and the ids of all that its parts fan out to. */
interface Anchor {
  readonly ui: UIMessage
  readonly ids: ReadonlySet<string>
}

/**
 * The UI messages that a run input's messages were made from, whichever form of `wire` it has.
 * @param messages as parsed; what is no list of parts is as if it were not there.
 */
export function wireToUiMessages(messages: readonly WireMessage[]): readonly UIMessage[] {
  const anchors = new Map<WireMessage, Anchor>()
  const fannedOut = new Set<string>()
  for (const message of messages) {
    const anchor = anchorOf(message)
    if (anchor === undefined) continue
    anchors.set(message, anchor)
    for (const id of anchor.ids) fannedOut.add(id)
  }
  const result: UIMessage[] = []
  let plain: Message[] = []
  const flush = (): void => {
    if (plain.length > 0) result.push(...toUIMessages(plain))
    plain = []
  }
  for (const message of messages) {
    const anchor = anchors.get(message)
    if (anchor !== undefined) {
      flush()
      result.push(anchor.ui)
    } else if (!fannedOut.has(message.id)) {
      plain.push(message)
    }
  }
  flush()
  return result
}

function anchorOf(message: WireMessage): Anchor | undefined {
  const { id, role, parts } = message
  if (!isListOfParts(parts) || (role !== 'user' && role !== 'system' && role !== 'developer' && role !== 'assistant')) return undefined
  const { name, metadata } = message
  const bare: UIMessage = { id, role, parts, ...present({ createdAt: dateOf(message) }) }
  const fanned = toMessages([bare])
  // As the view has it: a turn of one message has its name and metadata, and the id of what it begins with.
  const one = fanned.filter((made) => made.role === role).length === 1
  const begins = parts[0]?.origin?.messageId === fanned[0]?.id ? fanned[0]?.id : undefined
  return {
    ui: { ...bare, id: begins ?? id, ...(one && present({ name, metadata })) },
    ids: new Set(fanned.map((made) => made.id)),
  }
}

function isListOfParts(parts: unknown): parts is readonly UIPart[] {
  return Array.isArray(parts) && parts.every((part) => isObject(part) && typeof part['type'] === 'string')
}

/** JSON has no dates: servers send back the text they were given. */
function dateOf(message: WireMessage): Date | undefined {
  const { createdAt } = message as { readonly createdAt?: unknown }
  const date = typeof createdAt === 'string' || createdAt instanceof Date ? new Date(createdAt) : undefined
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date
}
