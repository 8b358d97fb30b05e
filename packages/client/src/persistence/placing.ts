/** The ways in which a stored thread takes its place in a chat. It tells nobody that something changed. */
import type { Message } from '@millrace/protocol'
import type { KeptChat } from '../chat/keeper.ts'
import type { LeftRun } from '../chat/left-run.ts'
import { restoredIn } from './likeness.ts'
import type { ReadThread } from './stored-thread.ts'

/**
 * It is what is shown; undefined: there is nothing any more.
 * @returns the run that is under way by it.
 */
export function replace(chat: KeptChat, stored: ReadThread | undefined): LeftRun | undefined {
  const { conversation, runner } = chat
  const restored = stored && restoredIn(chat, stored)
  if (restored !== undefined) conversation.show(conversation.branch(restored.thread))
  else if (stored === undefined) conversation.reset()
  runner.keep(restored?.left, stored?.foreign ? undefined : (stored?.begun ?? []))
  return restored?.left
}

/** It goes before what was said meanwhile. */
export function prepend(chat: KeptChat, stored: ReadThread): void {
  const { conversation, runner } = chat
  const { messages } = conversation.builder.snapshot()
  const before = others(chat, stored)
  conversation.builder.setMessages([...before, ...messages])
  runner.goBehind(before)
}

/**
 * What another tab said at the same time goes before what was said here, from where they part.
 * @returns whether there is any.
 */
export function merge(chat: KeptChat, stored: ReadThread): boolean {
  const { builder } = chat.conversation
  const { messages } = builder.snapshot()
  const added = others(chat, stored)
  if (added.length === 0) return false
  const theirs = restoredIn(chat, stored)?.thread.messages ?? []
  const common = messages.findIndex(({ id }, index) => theirs[index]?.id !== id)
  const at = common === -1 ? messages.length : common
  builder.setMessages([...messages.slice(0, at), ...added, ...messages.slice(at)])
  return true
}

/** Its messages that are not here. */
function others(chat: KeptChat, stored: ReadThread): readonly Message[] {
  const here = new Set(chat.conversation.builder.snapshot().messages.map(({ id }) => id))
  return (restoredIn(chat, stored)?.thread.messages ?? []).filter(({ id }) => !here.has(id))
}
