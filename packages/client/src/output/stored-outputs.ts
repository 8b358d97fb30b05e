/** Answers in the form of a value on their way to storage and back. Pure functions. */
import type { StructuredOutputPart, UIMessage, UIPart } from '@millrace/protocol'
import { isRecord } from '../checks.ts'

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

/**
 * The answers among messages that a server has stored, by the ids of their messages: such parts of UI messages, and what TanStack AI
 * notes in the metadata of AG-UI messages.
 */
export function outputsIn(messages: readonly unknown[]): [messageId: string, part: StructuredOutputPart][] {
  return messages.flatMap((message) => {
    const { id, parts, metadata } = Object(message) as { readonly id: string; readonly parts?: unknown; readonly metadata?: unknown }
    const tanstack = isRecord(metadata) ? metadata['tanstack'] : undefined
    const noted = isRecord(tanstack) ? [tanstack['structuredOutput']] : []
    return [...(Array.isArray(parts) ? parts.filter(isOutput) : noted)].flatMap((part: unknown): [string, StructuredOutputPart][] => {
      if (!isRecord(part) || typeof part['raw'] !== 'string' || !STATUSES.has(part['status'])) return []
      const { origin } = part as { readonly origin?: { readonly messageId?: string } }
      return [[origin?.messageId ?? id, { ...part, type: 'structured-output' } as StructuredOutputPart]]
    })
  })
}

const STATUSES: ReadonlySet<unknown> = new Set<StructuredOutputPart['status']>(['streaming', 'complete', 'error'])

const isOutput = (part: unknown): boolean => isRecord(part) && part['type'] === 'structured-output'

function mapOutputs(messages: readonly UIMessage[], map: (part: Extract<UIPart, { type: 'structured-output' }>) => UIPart): readonly UIMessage[] {
  if (!messages.some(({ parts }) => parts.some(isOutput))) return messages
  return messages.map((message) =>
    message.parts.some(isOutput) ? { ...message, parts: message.parts.map((part) => (part.type === 'structured-output' ? map(part) : part)) } : message,
  )
}
