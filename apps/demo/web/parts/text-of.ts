import type { UIMessage } from '@millrace/protocol'

/** The text of a message, as Markdown. */
export function textOf({ parts }: UIMessage): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.content] : [])).join('\n\n')
}
