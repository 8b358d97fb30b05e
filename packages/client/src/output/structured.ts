/** The option `output` of a chat: what is asked for, and what reads the answers. */
import { requireSchema } from '../tools/standard-schema.ts'
import type { OutputSchema } from '../tools/tool-types.ts'
import { Outputs } from './outputs.ts'
import type { StructuredOutput } from './reader.ts'

/**
 * Asks the agent for a value: `new ChatClient({ …, output: structured(schema) })`. Without a schema nothing is asked for, and what the server
 * says is a value shows as one (`structured-output.start` and `.complete`, the events of TanStack AI).
 * @param schema of zod, valibot, arktype or any other library of Standard Schemas.
 * @throws UsageError `bad-tool` if it is none.
 */
export function structured<const Schema extends OutputSchema = OutputSchema>(schema?: Schema): StructuredOutput<Schema> {
  if (schema !== undefined) requireSchema(schema, 'The schema of structured()')
  return { schema, open: (parts) => new Outputs(parts) }
}
