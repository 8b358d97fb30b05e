/** The public names of @millrace/vue. */
export type { ChatMethods } from '@millrace/client'
export { provideChatClient, useChatClient } from './chat-context.ts'
export { useChatSelector } from './snapshot-ref.ts'
export { useChat, type UseChatOptions, type UseChatResult } from './use-chat.ts'
