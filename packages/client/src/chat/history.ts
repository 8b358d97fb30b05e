/** Messages on their way in: from storage, from the user, and cut back for another try. Pure functions. */
import { UsageError, type Message, type UIMessage, type UserMessage } from '@millrace/protocol'
import type { GenerateId } from '../ids.ts'
import { checkInput, checkStored } from './message-shapes.ts'
import type { MessageInput, StoredMessage } from './options.ts'

/**
 * Stored messages as UI messages: a `createdAt` that JSON turned into text is a date again, or gone if it is none.
 * @throws UsageError `malformed-message`.
 */
export function reviveMessages(stored: readonly StoredMessage[]): UIMessage[] {
  checkStored(stored)
  return stored.map(({ createdAt, ...rest }) => {
    if (createdAt === undefined || createdAt === null) return rest
    const date = new Date(createdAt)
    return Number.isNaN(date.getTime()) ? rest : { ...rest, createdAt: date }
  })
}

/**
 * What the user says, as a message.
 * @throws UsageError `empty-message`, `malformed-message`.
 */
export function userMessage(input: string | MessageInput, generateId: GenerateId): UserMessage {
  const given: MessageInput = typeof input === 'string' ? { content: input } : input
  checkInput(given)
  const { content, id, metadata } = given
  if (typeof content === 'string' ? content.trim() === '' : content.length === 0) {
    throw new UsageError('empty-message', 'A message needs some content.')
  }
  return {
    id: id ?? generateId('message'),
    role: 'user',
    content: typeof content === 'string' ? content : [...content],
    ...(metadata !== undefined && { metadata }),
  }
}

/**
 * The messages up to and with the last one of the user.
 * @throws UsageError `nothing-to-reload`.
 */
export function upToLastUser(messages: readonly Message[]): readonly Message[] {
  const last = messages.findLastIndex((message) => message.role === 'user')
  if (last === -1) throw new UsageError('nothing-to-reload', 'There is no message of the user to run again.')
  return messages.slice(0, last + 1)
}
