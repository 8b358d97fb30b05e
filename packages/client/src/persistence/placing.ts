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
 * What another tab said at the same time goes before what was said here, from where they part; of what neither said, theirs counts.
 * @returns whether there is any.
 */
export function merge(chat: KeptChat, stored: ReadThread, own: readonly Message[]): boolean {
  const { builder } = chat.conversation
  const { messages } = builder.snapshot()
  const theirs = restoredIn(chat, stored)?.thread.messages ?? []
  const ours = new Set(own.map(({ id }) => id))
  const common = new Map(theirs.filter(({ id }) => !ours.has(id)).map((message) => [message.id, message]))
  const kept = messages.map((message) => common.get(message.id) ?? message)
  const here = new Set(messages.map(({ id }) => id))
  const added = theirs.filter(({ id }) => !here.has(id))
  if (added.length === 0 && common.size === 0) return false
  const said = theirs.filter(isSaid)
  const parting = messages.filter(isSaid).find(({ id }, index) => said[index]?.id !== id)
  const at = parting === undefined ? messages.length : messages.indexOf(parting)
  builder.setMessages([...kept.slice(0, at), ...added.filter(isSaid), ...kept.slice(at)])
  // An answer has its place behind its call.
  for (const message of added) if (message.role === 'tool') builder.addToolResult(message)
  return true
}

function isSaid({ role }: Message): boolean {
  return role !== 'tool'
}

/** Its messages that are not here. */
function others(chat: KeptChat, stored: ReadThread): readonly Message[] {
  const here = new Set(chat.conversation.builder.snapshot().messages.map(({ id }) => id))
  return (restoredIn(chat, stored)?.thread.messages ?? []).filter(({ id }) => !here.has(id))
}
