/** What the compiler knows of a chat by its tools and schemas, and what it refuses. Checked by `tsc -b`, not run. */
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import { callOf, ChatClient, chatSelector, defineTool, structured, type ChatClientOptions, type ChatMethods, type ChatTypesOf, type StreamChunk } from '@millrace/client'
import { toolInput, type Interrupt, type UIMessage } from '@millrace/protocol'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <Holds extends true>(holds: Holds): Holds => holds

declare const connection: { connect: () => AsyncIterable<StreamChunk> }

const weather = defineTool({
  name: 'weather',
  description: 'd',
  input: z.object({ city: z.string(), unit: z.enum(['C', 'F']).default('C') }),
  output: z.object({ degrees: z.number() }),
  execute: () => ({ degrees: 4 }),
})
const book = defineTool({ name: 'book', description: 'd', input: v.object({ nights: v.array(v.number()) }), output: v.number() })
const pick = defineTool({ name: 'pick', description: 'd', input: type({ from: 'string[]' }) })
const free = defineTool({ name: 'free', description: 'd', execute: (input) => same<Equal<typeof input, unknown>>(true) })
/** Run by the server, and known here by its definition alone. */
const search = defineTool({ name: 'search', description: 'd', input: z.object({ query: z.string() }), output: z.array(z.string()) })

// `const`: the name of a bare declaration is known, too.
const chat = new ChatClient({
  connection,
  tools: [weather, book, pick, free, { name: 'bare', description: 'd' }],
  output: structured(z.object({ title: z.string(), mood: z.enum(['good', 'bad']), tags: z.array(z.object({ id: z.number() })), at: z.string().transform((text) => new Date(text)) })),
  answers: { approval: z.object({ approved: z.boolean() }), date: v.pipe(v.string(), v.transform((text) => new Date(text))) },
  onToolCall(call) {
    same<Equal<(typeof call)['toolName'], 'weather' | 'book' | 'pick' | 'free' | 'bare'>>(true)
    if (call.toolName === 'weather') same<Equal<typeof call.input, { city: string; unit?: 'C' | 'F' | undefined } | undefined>>(true)
    if (call.toolName === 'book') same<Equal<typeof call.input, { nights: number[] } | undefined>>(true)
    if (call.toolName === 'pick') same<Equal<typeof call.input, { from: string[] } | undefined>>(true)
    if (call.toolName === 'bare') same<Equal<typeof call.input, unknown>>(true)
    if (call.toolName === 'book') void chat.addToolResult({ ...call, output: 3 })
    // @ts-expect-error: no tool has this name
    if (call.toolName === 'brook') return
    // @ts-expect-error: a night is a number
    if (call.toolName === 'book') void call.input?.nights.map((night) => night.length)
  },
  onFinish({ messages }) {
    for (const { parts } of messages) for (const part of parts) if (part.type === 'tool-call' && part.name === 'pick') void toolInput(part)?.from
  },
})

// Parts of messages.
for (const part of chat.getSnapshot().messages.flatMap(({ parts }) => parts)) {
  if (part.type === 'tool-call') {
    if (part.name === 'weather') {
      if (part.state === 'awaiting-input' || part.state === 'input-streaming') {
        const input = toolInput(part)
        same<Equal<typeof input, { readonly city?: string; readonly unit?: string | undefined } | undefined>>(true)
      } else {
        const input = toolInput(part)
        same<Equal<typeof input, { city: string; unit?: 'C' | 'F' | undefined } | undefined>>(true)
      }
      const either: string | undefined = toolInput(part)?.city
      void either
      if (part.state === 'complete') same<Equal<typeof part.output, { degrees: number } | undefined>>(true)
      // @ts-expect-error: it has no such argument
      void toolInput(part)?.town
      // @ts-expect-error: while it streams a city may be missing
      if (part.state === 'input-streaming') void toolInput(part)?.city.length
      // @ts-expect-error: what an error says is no result
      if (part.state === 'error') void part.output?.degrees
    } else if (part.name === 'book') {
      // A number goes as text, and is shown as such.
      if (part.state === 'complete') same<Equal<typeof part.output, string | undefined>>(true)
      if (part.state === 'input-streaming') same<Equal<ReturnType<typeof toolInput<typeof part>>, { readonly nights?: readonly number[] } | undefined>>(true)
    } else if (part.name === 'bare') {
      same<Equal<ReturnType<typeof toolInput<typeof part>>, unknown>>(true)
    } else if (part.name !== 'pick' && part.name !== 'free') {
      // A tool of the server.
      const name: string = part.name
      void name
      same<Equal<ReturnType<typeof toolInput<typeof part>>, unknown>>(true)
    }
  }
  const searched = callOf(part, search)
  if (searched !== undefined) {
    same<Equal<typeof searched.name, 'search'>>(true)
    if (searched.state === 'complete') same<Equal<typeof searched.output, string[] | undefined>>(true)
    // @ts-expect-error: it has no such argument
    void toolInput(searched)?.question
  }
  if (part.type === 'structured-output') {
    same<Equal<NonNullable<typeof part.data>, { title: string; mood: 'good' | 'bad'; tags: { id: number }[]; at: Date }>>(true)
    // @ts-expect-error: a tag may have no id yet
    void part.partial?.tags?.map(({ id }) => id.toFixed())
  }
}

// What the agent answers.
const { partial, final } = chat.getSnapshot()
same<Equal<typeof final, { title: string; mood: 'good' | 'bad'; tags: { id: number }[]; at: Date } | undefined>>(true)
same<
  Equal<
    typeof partial,
    | { readonly title?: string; readonly mood?: string; readonly tags?: readonly { readonly id?: number }[]; readonly at?: string }
    | undefined
  >
>(true)
// @ts-expect-error: it may have no title yet
void partial?.title.length

// Results of tools.
void chat.addToolResult({ toolCallId: 'c', toolName: 'weather', output: { degrees: 4 } })
void chat.addToolResult({ toolCallId: 'c', output: 'anything' })
void chat.addToolResult({ toolCallId: 'c', toolName: 'weather', error: 'no' })
// @ts-expect-error: not what the tool promises
void chat.addToolResult({ toolCallId: 'c', toolName: 'weather', output: { celsius: 4 } })
// @ts-expect-error: no tool has this name
void chat.addToolResult({ toolCallId: 'c', toolName: 'wether', output: { degrees: 4 } })
// @ts-expect-error: one of both
void chat.addToolResult({ toolCallId: 'c', toolName: 'weather' })

// Answers to questions.
for (const interrupt of chat.getSnapshot().interrupts) {
  if (interrupt.reason === 'approval') {
    void chat.respond(interrupt, { status: 'resolved', payload: { approved: true } })
    void chat.respond(interrupt, { status: 'cancelled' })
    // @ts-expect-error: not what is asked for
    void chat.respond(interrupt, { status: 'resolved', payload: { approved: 'yes' } })
    // @ts-expect-error: something is asked for
    void chat.respond(interrupt, { status: 'resolved' })
  } else if (interrupt.reason === 'date') {
    // What the schema takes in, not what it makes of it.
    void chat.respond(interrupt, { status: 'resolved', payload: '2026-11-30' })
    // @ts-expect-error: it takes text
    void chat.respond(interrupt, { status: 'resolved', payload: new Date() })
  } else {
    const reason: string = interrupt.reason
    void chat.respond(interrupt, { status: 'resolved', payload: reason })
  }
}
void chat.respond('i1', { status: 'resolved', payload: 3 })

// A client with types stands for one without.
const general: ChatClient = chat
const methods: ChatMethods = general
const plainMessages: readonly UIMessage[] = chat.getSnapshot().messages
const questions: readonly Interrupt[] = chat.getSnapshot().interrupts
void [methods, plainMessages, questions]
same<Equal<typeof selected, string>>(true)
const selected = chatSelector(chat, ({ final: value }) => value?.title ?? '')()

// Without tools everything is general.
const plain = new ChatClient({
  connection,
  onToolCall({ toolName, input }) {
    same<Equal<typeof toolName, string>>(true)
    same<Equal<typeof input, unknown>>(true)
  },
})
same<Equal<typeof plain extends ChatClient ? true : false, true>>(true)
same<Equal<(typeof plain extends never ? never : ReturnType<typeof plain.getSnapshot>)['final'], unknown>>(true)
const kept: ChatClient = plain
void kept
for (const part of plain.getSnapshot().messages.flatMap(({ parts }) => parts)) {
  if (part.type === 'tool-call') {
    same<Equal<typeof part.name, string>>(true)
    same<Equal<ReturnType<typeof toolInput<typeof part>>, unknown>>(true)
  }
}
void plain.respond('i', { status: 'resolved', payload: 3 })
void plain.addToolResult({ toolCallId: 'c', toolName: 'any', output: 3 })

// Options and clients can be named.
const options: ChatClientOptions = { connection, tools: [weather, book], output: structured(z.string()), onToolCall: ({ toolName }) => void toolName }
const named: ChatClient<ChatTypesOf<readonly [typeof weather, typeof book]>> = new ChatClient({ connection, tools: [weather, book] })
void [options, named]

// Tools made in place have the types of their schemas, and those that take anything take anything.
const inline = new ChatClient({
  connection,
  tools: [
    defineTool({ name: 'a', description: 'd', input: z.object({ n: z.number() }), execute: ({ n }) => ({ twice: n * 2 }) }),
    defineTool({ name: 'b', description: 'd', execute: (input) => same<Equal<typeof input, unknown>>(true) }),
  ],
})
for (const part of inline.getSnapshot().messages.flatMap(({ parts }) => parts)) {
  if (part.type === 'tool-call' && part.name === 'a' && part.state === 'complete') same<Equal<typeof part.output, { twice: number } | undefined>>(true)
}

// A list that is known only as it runs tells no names.
declare const many: ChatClientOptions['tools']
const open = new ChatClient({ connection, ...(many !== undefined && { tools: many }), onToolCall: ({ toolName }) => same<Equal<typeof toolName, string>>(true) })
void open

// @ts-expect-error: this is no schema
void new ChatClient({ connection, output: { type: 'object' } })
// @ts-expect-error: this is no schema
void new ChatClient({ connection, answers: { approval: { type: 'object' } } })
