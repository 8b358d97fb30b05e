/** A tool that runs where the user is: its declaration for the agent, its schemas, and the function. It runs nothing. */
import { UsageError, type Tool } from '@millrace/protocol'
import { isRecord } from '../checks.ts'
import { jsonSchemaOf, requireSchema, type StandardSchema } from './standard-schema.ts'

/** What a tool is told of the call it answers. */
export interface ToolContext {
  readonly toolCallId: string
  /** Aborts when the turn is stopped; what the tool gives afterwards is not used. */
  readonly signal: AbortSignal
}

/**
 * A tool of any kind, as a client takes it. `Args` are the arguments as the model is asked for them and `Input` what `execute`
 * gets of them, `Output` is what it gives and `Result` what the agent gets of that: they differ where a schema transforms.
 */
export interface ClientTool<Name extends string = string, Input = never, Output = unknown, Args = unknown, Result = unknown> {
  readonly name: Name
  readonly description: string
  readonly input?: StandardSchema<Args, unknown> | undefined
  readonly output?: StandardSchema<unknown, Result> | undefined
  /** JSON Schema of the arguments, for the agent. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined
  /** Without it the application answers, by `addToolResult`. */
  readonly execute?: ((input: Input, context: ToolContext) => Output | Promise<Output>) | undefined
}

/** What `defineTool` takes. */
export interface ToolDefinition<Name extends string, Input, Output, Args = Input, Result = Output> {
  readonly name: Name
  readonly description: string
  /** Arguments are held against it before the tool runs. */
  readonly input?: StandardSchema<Args, Input>
  /** What the tool gives is held against it before it is sent. */
  readonly output?: StandardSchema<Output, Result>
  /** JSON Schema of the arguments. Default: what `input` gives, if it can; else any object. */
  readonly parameters?: Readonly<Record<string, unknown>>
  readonly execute?: (input: Input, context: ToolContext) => Output | Promise<Output>
}

/**
 * A tool with its types: `execute` gets what `input` makes of the arguments, and gives what `output` takes.
 * @throws UsageError `bad-tool` for a name, a schema or a function that is none.
 */
export function defineTool<const Name extends string, Input = unknown, Output = unknown, Args = Input, Result = Output>(
  tool: ToolDefinition<Name, Input, Output, Args, Result>,
): ClientTool<Name, NoInfer<Input>, Output, NoInfer<Args>, NoInfer<Result>> {
  checkTool(tool)
  return tool as ClientTool<Name, Input, Output, Args, Result>
}

/** @throws UsageError `bad-tool`. */
export function checkTool(tool: unknown): void {
  const { name, description, input, output, execute } = Object(tool) as Partial<ClientTool>
  if (!isRecord(tool) || typeof name !== 'string' || name === '' || typeof description !== 'string') {
    throw new UsageError('bad-tool', 'A tool is an object with a name and a description.')
  }
  if (input !== undefined) requireSchema(input, `The input of tool "${name}"`)
  if (output !== undefined) requireSchema(output, `The output of tool "${name}"`)
  if (execute !== undefined && typeof execute !== 'function') throw new UsageError('bad-tool', `execute of tool "${name}" has to be a function.`)
}

/** What the agent is told of a tool (AG-UI 1.0, run input). A bare declaration goes as it is. */
export function declarationOf(tool: ClientTool | Tool): Tool {
  const { name, description, parameters, input, execute } = tool as ClientTool
  if (input === undefined && execute === undefined) return tool as Tool
  return { name, description, parameters: parameters ?? (input === undefined ? undefined : jsonSchemaOf(input)) ?? { type: 'object' } }
}
