/** What must compile between `@ag-ui/core` and us, and what must not. Checked by the compiler, never run. */
import type * as Core from '@ag-ui/core'
import type { Event, EventOf, Interrupt, Message, ResumeEntry, RunAgentInput, Tool, UIMessage, VerifiedEvent } from './index.ts'
import { buildRunAgentInput, compatible, reportMode, ThreadReader, toCoreEvent } from './index.ts'

declare const coreEvent: Core.Event
declare const coreMessage: Core.Message
declare const coreInput: Core.RunAgentInput
declare const coreTool: Core.Tool
declare const coreInterrupt: Core.Interrupt
declare const coreResume: Core.ResumeEntry
declare const event: Event
declare const message: Message
declare const input: RunAgentInput
declare const ui: UIMessage[]

// Theirs are assignable to ours…
export const fromCore: [Event, Message, RunAgentInput, Tool, Interrupt, ResumeEntry] = [coreEvent, coreMessage, coreInput, coreTool, coreInterrupt, coreResume]
// … and our messages and inputs to theirs; events go through one function.
export const toCore: [Core.Message, Core.RunAgentInput, Core.Event] = [message, input, toCoreEvent(event)]
export const built: Core.RunAgentInput = buildRunAgentInput({ messages: ui, runContext: { threadId: 't', runId: 'r' } })

// An event's type is a plain string literal, and narrows.
export const plain: Event = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x' }
export function narrow(one: Event): string {
  return one.type === 'TOOL_CALL_START' ? one.toolCallName : one.type
}
export const start: EventOf<'RUN_STARTED'> = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }

// Open JSON is unknown, not any.
declare const snapshot: EventOf<'STATE_SNAPSHOT'>
// @ts-expect-error -- unknown has no members
export const peek: unknown = snapshot.snapshot.count

// @ts-expect-error -- a chunk is never verified
export const chunk: VerifiedEvent = { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm' }
// @ts-expect-error -- a field of the wrong type
export const wrong: Event = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 5 }
// @ts-expect-error -- absent is left out, not undefined
export const absent: Event = { type: 'TEXT_MESSAGE_START', messageId: 'm', name: undefined }

// A reader takes what is lenient as a value; its name would have to load it.
export const readers: ThreadReader[] = [new ThreadReader({ mode: 'strict' }), new ThreadReader({ mode: reportMode }), new ThreadReader(compatible('tolerant'))]
// @ts-expect-error -- the name of a mode
export const byName: ThreadReader = new ThreadReader({ mode: 'tolerant' })
