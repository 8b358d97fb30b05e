/** What the page knows of a client. Each says in its own file how its hook is used and how its messages read. */
import type { Said } from './conversation.ts'

/** What a row shows. */
export interface Readable {
  readonly role: string
  /** Text of the message. */
  readonly text: string
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: string; readonly output: string }[]
}

export interface Chat<Message> {
  readonly messages: readonly Message[]
  readonly busy: boolean
  readonly error: Error | undefined
  /** Settles when the answer is over. */
  readonly send: (text: string) => Promise<unknown>
}

export interface Client<Message> {
  /** The history in the client's own form; called once. */
  readonly historyOf: (said: readonly Said[]) => Message[]
  /** The client's hook, with the settings it has when nothing is set. @param query Goes to the server with the address. */
  readonly useChat: (history: Message[], query: string) => Chat<Message>
  readonly read: (message: Message) => Readable
}
