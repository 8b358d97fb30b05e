/** One call of a tool of the client: arguments → checked input → what the tool gives → the answer. Never rejects. */
import type { ToolCall } from '@millrace/protocol'
import { toError } from '../errors.ts'
import type { ClientTool, ToolContext } from './define-tool.ts'
import { validate } from './standard-schema.ts'

/** What a tool message carries: text, and the reason if the call failed. */
export interface ToolAnswer {
  readonly content: string
  /** What the tool gave, for an agent that takes values. */
  readonly output?: unknown
  readonly error?: string
}

/** Runs a tool that has `execute`. All that can go wrong is an answer with `error`, which the agent reads. */
export async function runTool(tool: ClientTool, call: ToolCall, context: ToolContext): Promise<ToolAnswer> {
  try {
    const input = await inputOf(tool, call.function.arguments)
    const { execute } = tool as ClientTool<string, unknown>
    const output = await outputOf(tool, await execute?.(input, context))
    return { content: contentOf(output), output }
  } catch (thrown) {
    return failure(toError(thrown).message)
  }
}

export function failure(error: string): ToolAnswer {
  const said = error === '' ? 'The tool failed and gave no reason.' : error
  return { content: said, error: said }
}

/** A result as text: JSON, but for what is text already. */
export function contentOf(output: unknown): string {
  return typeof output === 'string' ? output : (JSON.stringify(output) ?? 'null')
}

/** The arguments of a call; a model that has none to give may send no text. Undefined if they are not JSON. */
export function parseArguments(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: text.trim() === '' ? {} : JSON.parse(text) }
  } catch {
    return undefined
  }
}

async function inputOf({ name, input }: ClientTool, text: string): Promise<unknown> {
  const parsed = parseArguments(text)
  if (parsed === undefined) throw new Error(`The arguments of ${name} are not JSON.`)
  if (input === undefined) return parsed.value
  const checked = await validate(input, parsed.value)
  if ('wrong' in checked) throw new Error(`The arguments of ${name} are not what it takes: ${checked.wrong}`)
  return checked.value
}

async function outputOf({ name, output }: ClientTool, value: unknown): Promise<unknown> {
  if (output === undefined) return value
  const checked = await validate(output, value)
  if ('wrong' in checked) throw new Error(`The result of ${name} is not what it promises: ${checked.wrong}`)
  return checked.value
}
