/** The public names of @millrace/react. */
export { useChat, type ChatMethods, type UseChatOptions, type UseChatResult } from './use-chat.ts'
