/**
 * What the compiler knows of a chat from its tools and schemas: the calls in its messages, the calls that wait for the
 * application, the answers to them, the questions of the agent. Types only.
 */
import type { DeepPartial, Interrupt, StructuredOutputPart, Tool, ToolCallPart, ToolCallState, UIPart } from '@millrace/protocol'
import type { InterruptAnswer, OpenToolCall, ToolResultInput } from '../chat/asked.ts'
import type { ClientTool } from './define-tool.ts'
import type { SchemaInput, SchemaOutput, StandardSchema } from './standard-schema.ts'

/** Tools, and bare declarations of such. */
export type ToolList = readonly (ClientTool | Tool)[]

/** Any schema of an answer in the form of a value. */
export type OutputSchema = StandardSchema<unknown, unknown>

/** Schemas of what the user answers to interrupts, by the `reason` of the interrupt. */
export type AnswerSchemas = Readonly<Record<string, StandardSchema<unknown, unknown>>>

declare enum Unlisted {
  name = '',
}

/**
 * A name that is none of those a chat has types for, such as that of a tool of the server. It is a string like any other; of a
 * union it is what is left when the known names are ruled out, which `string` would not be.
 */
export type OtherName = Unlisted

/** What a tool is called with and gives; `Result` is what the agent gets of it. */
interface ToolTypes<Name, Args, Result> {
  readonly name: Name
  readonly args: Args
  readonly result: Result
}

type TypesOf<Each> = Each extends ClientTool<infer Name, infer _Input, infer _Output, infer Args, infer Result>
  ? ToolTypes<Name, Args, Result>
  : never

/** A result goes as text: what is no list and no object stays so. */
type Shown<Result> = unknown extends Result ? unknown : Result extends object ? Result : string

type CallPart<Types> =
  Types extends ToolTypes<infer Name extends string, infer Args, infer Result>
    ?
        // One for each state: a check against one of two states would rule out neither of them.
        | ToolCallPart<Name, DeepPartial<Args>, unknown, 'awaiting-input'>
        | ToolCallPart<Name, DeepPartial<Args>, unknown, 'input-streaming'>
        | ToolCallPart<Name, Args, Shown<Result>, Exclude<ToolCallState, 'awaiting-input' | 'input-streaming' | 'error'>>
        // What went wrong is told in place of the result.
        | ToolCallPart<Name, Args, unknown, 'error'>
    : never

/** The parts that calls of this tool have in messages; of a list's tools, those of each. */
export type ToolCallPartOf<Each extends ClientTool | Tool> = CallPart<TypesOf<Each>>

/** The parts of messages of a chat with these tools, and answers by this schema. */
export type PartOf<Tools extends ToolList, Output extends OutputSchema> =
  | Exclude<UIPart, ToolCallPart | StructuredOutputPart>
  | (IsOpen<Tools> extends true ? ToolCallPart : ToolCallPartOf<Tools[number]> | ToolCallPart<OtherName>)
  | StructuredOutputPart<SchemaOutput<Output>, SchemaInput<Output>>

/** Whether some tool may have any name: then a name tells nothing. */
type IsOpen<Tools extends ToolList> = string extends Tools[number]['name'] ? true : false

type Waiting<Types> = Types extends ToolTypes<infer Name extends string, infer Args, infer _Result> ? OpenToolCall<Name, Args | undefined> : never

/** A call of one of these tools that waits for the application; told apart by `toolName`. */
export type OpenToolCallOf<Tools extends ToolList> = IsOpen<Tools> extends true ? OpenToolCall : Waiting<TypesOf<Tools[number]>>

type Named<Types> =
  Types extends ToolTypes<infer Name, infer _Args, infer Result>
    ? { readonly toolCallId: string; readonly toolName: Name; readonly output: Result; readonly error?: undefined }
    : never

/** What the application found: held against the tool by the compiler if the tool is named. */
export type ToolResultOf<Tools extends ToolList> =
  IsOpen<Tools> extends true
    ? ToolResultInput
    :
        | Named<TypesOf<Tools[number]>>
        | { readonly toolCallId: string; readonly toolName?: OtherName | undefined; readonly output: unknown; readonly error?: undefined }
        | Extract<ToolResultInput, { readonly error: string }>

declare const PAYLOAD: unique symbol

/** A question of the agent; told apart by `reason`, as far as there is a schema for the answers to it. */
export type InterruptOf<Reasons extends AnswerSchemas> = string extends keyof Reasons
  ? Interrupt
  : Asked<Reasons, keyof Reasons> | (Interrupt & { readonly reason: OtherName })

type Asked<Reasons extends AnswerSchemas, Reason> = Reason extends keyof Reasons
  ? Interrupt & {
      readonly reason: Reason
      /** For the type checker alone: no interrupt has it. */
      readonly [PAYLOAD]?: SchemaInput<Reasons[Reason]>
    }
  : never

/** What can be answered to a question: its payload is one that the schema for it takes in. */
export type AnswerTo<Question> = Question extends { readonly [PAYLOAD]?: infer Payload }
  ? unknown extends Payload
    ? InterruptAnswer
    : InterruptAnswer & ({ readonly status: 'resolved'; readonly payload: Payload } | { readonly status: 'cancelled'; readonly payload?: undefined })
  : InterruptAnswer

/** What is known of a chat by its types; without more, that is what holds for every chat. See {@link ChatTypesOf}. */
export interface ChatTypes {
  /** A part of its messages. */
  readonly part: UIPart
  /** A call that waits for the application. */
  readonly call: OpenToolCall
  /** An answer to such a call. */
  readonly result: ToolResultInput
  /** The value that the agent answers, as far as it came. */
  readonly partial: unknown
  /** That value, as its schema gives it. */
  readonly final: unknown
  /** A question of the agent. */
  readonly interrupt: Interrupt
}

/** The types of a chat with these tools, and these schemas of what the agent and the user answer. */
export interface ChatTypesOf<
  Tools extends ToolList = ToolList,
  Output extends OutputSchema = OutputSchema,
  Reasons extends AnswerSchemas = AnswerSchemas,
> extends ChatTypes {
  readonly part: PartOf<Tools, Output>
  readonly call: OpenToolCallOf<Tools>
  readonly result: ToolResultOf<Tools>
  readonly partial: DeepPartial<SchemaInput<Output>>
  readonly final: SchemaOutput<Output>
  readonly interrupt: InterruptOf<Reasons>
}
