/** Types go through the binding. Checked by `tsc -b`, not run. */
import { ChatClient, defineTool, structured, type ChatTypesOf, type StreamChunk } from '@millrace/client'
import { toolInput } from '@millrace/protocol'
import { z } from 'zod'
import { ChatProvider, useChat, useChatClient, useChatSelector, type UseChatOptions, type UseChatResult } from './index.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <Holds extends true>(holds: Holds): Holds => holds

declare const connection: { connect: () => AsyncIterable<StreamChunk> }
const book = defineTool({ name: 'book', description: 'd', input: z.object({ nights: z.number() }), output: z.object({ id: z.string() }) })
const pick = defineTool({ name: 'pick', description: 'd' })
const tools = [book, pick] as const
const output = structured(z.object({ title: z.string() }))
const answers = { approval: z.object({ approved: z.boolean() }) }

const own = useChat({
  connection,
  tools,
  output,
  answers,
  onToolCall(call) {
    if (call.toolName === 'book') same<Equal<typeof call.input, { nights: number } | undefined>>(true)
    if (call.toolName === 'book') void own.addToolResult({ ...call, output: { id: 'b' } })
    // @ts-expect-error: not what the tool promises
    if (call.toolName === 'book') void own.addToolResult({ ...call, output: { nr: 'b' } })
    // @ts-expect-error: no tool has this name
    return call.toolName === 'brook' ? undefined : undefined
  },
})
const client = new ChatClient({ connection, tools, output, answers })
const shared = useChat({ client })
same<Equal<typeof own, typeof shared>>(true)

for (const part of own.messages.flatMap(({ parts }) => parts)) {
  if (part.type === 'tool-call' && part.name === 'book') {
    if (part.state === 'complete') same<Equal<typeof part.output, { id: string } | undefined>>(true)
    const nights: number | undefined = toolInput(part)?.nights
    void nights
    // @ts-expect-error: it has no such argument
    void toolInput(part)?.days
  }
}
same<Equal<typeof own.final, { title: string } | undefined>>(true)
same<Equal<typeof own.partial, { readonly title?: string } | undefined>>(true)
for (const interrupt of shared.interrupts) {
  if (interrupt.reason !== 'approval') continue
  void shared.respond(interrupt, { status: 'resolved', payload: { approved: true } })
  // @ts-expect-error: not what is asked for
  void shared.respond(interrupt, { status: 'resolved', payload: true })
}
const title = useChatSelector(client, ({ final }) => final?.title)
same<Equal<typeof title, string | undefined>>(true)

// A client with types can be handed down, and named where it is taken.
void ChatProvider({ client })
const taken: ChatClient<ChatTypesOf<typeof tools>> = useChatClient<ChatTypesOf<typeof tools>>()
void taken

// Without tools everything is general.
declare const given: UseChatOptions
const general: UseChatResult = useChat(given)
const plain = useChat({ connection, onToolCall: ({ toolName }) => same<Equal<typeof toolName, string>>(true) })
same<Equal<typeof plain.final, unknown>>(true)
const kept: UseChatResult = own
void [general, plain, kept]
