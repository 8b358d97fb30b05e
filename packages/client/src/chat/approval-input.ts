/** Arguments that the user changed, held against what the tool takes, where the tool is ours. It runs no tool. */
import { checkPayload, UsageError, type Interrupt, type Thread, type Tool } from '@millrace/protocol'
import { toError } from '../errors.ts'
import type { ClientTool } from '../tools/define-tool.ts'
import { validate } from '../tools/standard-schema.ts'

/** @throws UsageError (rejects) `malformed-answer` for arguments that are no JSON, or that the tool does not take. */
export async function checkEdited(
  input: unknown,
  toolCallId: string | undefined,
  { messages }: Pick<Thread, 'messages'>,
  tools: readonly (ClientTool | Tool)[],
): Promise<void> {
  requireJson(input)
  const call = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : [])).find(({ id }) => id === toolCallId)
  const tool = tools.find(({ name }) => name === call?.function.name) as ClientTool | undefined
  if (tool === undefined) return
  const wrong = await faultOf(tool, input)
  if (wrong !== undefined) throw new UsageError('malformed-answer', `The arguments are not what ${tool.name} takes: ${wrong}`)
}

async function faultOf({ input: schema, parameters }: ClientTool, input: unknown): Promise<string | undefined> {
  if (schema === undefined) return parameters === undefined ? undefined : checkPayload(parameters, input, {} as Interrupt)
  try {
    const checked = await validate(schema, input)
    return 'wrong' in checked ? checked.wrong : undefined
  } catch (thrown) {
    return toError(thrown).message
  }
}

function requireJson(input: unknown): void {
  let cause: unknown
  try {
    if (JSON.stringify(input) !== undefined) return
  } catch (thrown) {
    cause = thrown
  }
  throw new UsageError('malformed-answer', 'The arguments of a call have to be JSON.', { cause })
}
