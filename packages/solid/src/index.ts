/** The public names of @millrace/solid. */
export type { ChatMethods } from '@millrace/client'
export { ChatProvider, useChatClient, type ChatProviderProps } from './chat-context.ts'
export { createChat, type Chat, type CreateChatOptions } from './create-chat.ts'
export { createChatSelector } from './snapshot.ts'
