/** The public names of @millrace/react. */
export type { ChatMethods } from '@millrace/client'
export { ChatProvider, useChatClient, type ChatProviderProps } from './chat-context.ts'
export { useChatSelector } from './use-chat-selector.ts'
export { useChat, type UseChatOptions, type UseChatResult } from './use-chat.ts'
