/** The public names of @millrace/svelte. */
export type { ChatMethods } from '@millrace/client'
export { getChatClient, setChatClient } from './chat-context.ts'
export { createChat, type Chat, type CreateChatOptions } from './create-chat.ts'
export { createChatSelector } from './observe.ts'
