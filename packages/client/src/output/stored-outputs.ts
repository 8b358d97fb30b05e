/** Answers in the form of a value on their way to storage and back. Pure functions. */
import type { UIMessage, UIPart } from '@millrace/protocol'

/**
 * The same messages with the text of each answer in its place, as a thread holds it. The wire takes no answer that is unfinished or
 * wrong (`uiMessagesToWire`); a thread does, since it is shown.
 */
export function withTexts(messages: readonly UIMessage[]): readonly UIMessage[] {
  return mapOutputs(messages, ({ raw, origin }) => ({ type: 'text', content: raw, ...(origin !== undefined && { origin }) }))
}

/** The same messages without what is made of a text: that is made anew, and what a schema makes may be no JSON. */
export function withoutValues(messages: readonly UIMessage[]): readonly UIMessage[] {
  return mapOutputs(messages, (part) => {
    const { partial: _partial, data: _data, ...rest } = part
    return part.raw === '' ? part : rest
  })
}

function mapOutputs(messages: readonly UIMessage[], map: (part: Extract<UIPart, { type: 'structured-output' }>) => UIPart): readonly UIMessage[] {
  const isOutput = ({ type }: UIPart): boolean => type === 'structured-output'
  if (!messages.some(({ parts }) => parts.some(isOutput))) return messages
  return messages.map((message) =>
    message.parts.some(isOutput) ? { ...message, parts: message.parts.map((part) => (part.type === 'structured-output' ? map(part) : part)) } : message,
  )
}
