/** What the compiler knows of a tool. Checked by `tsc -b`, not run. */
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import { defineTool, type ChatClientOptions, type ClientTool } from '@millrace/client'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <Holds extends true>(holds: Holds): Holds => holds

const weather = defineTool({
  name: 'weather',
  description: 'd',
  input: z.object({ city: z.string(), days: z.coerce.number() }),
  output: z.object({ sky: z.enum(['clear', 'grey']) }),
  execute: (input, { signal, toolCallId }) => {
    same<Equal<typeof input, { city: string; days: number }>>(true)
    same<Equal<typeof signal, AbortSignal>>(true)
    same<Equal<typeof toolCallId, string>>(true)
    return { sky: 'clear' }
  },
})
same<Equal<typeof weather.name, 'weather'>>(true)

defineTool({
  name: 'f',
  description: 'd',
  input: v.object({ n: v.number() }),
  execute: (input) => same<Equal<typeof input, { n: number }>>(true),
})
defineTool({
  name: 'f',
  description: 'd',
  input: type({ n: 'number' }),
  execute: (input) => same<Equal<typeof input, { n: number }>>(true),
})
defineTool({ name: 'f', description: 'd', execute: (input) => same<Equal<typeof input, unknown>>(true) })

defineTool({
  name: 'f',
  description: 'd',
  input: z.object({ city: z.string() }),
  // @ts-expect-error: there is no such argument
  execute: ({ town }) => town,
})
defineTool({
  name: 'f',
  description: 'd',
  output: z.number(),
  // @ts-expect-error: the result is not what the schema takes
  execute: () => 'three',
})
// @ts-expect-error: a tool has a description
defineTool({ name: 'f' })
// @ts-expect-error: this is no schema
defineTool({ name: 'f', description: 'd', input: { type: 'object' } })

// Tools of any kind go into one list, beside bare declarations.
const tools: ChatClientOptions['tools'] = [weather, defineTool({ name: 'g', description: 'd' }), { name: 'bare', description: 'd' }]
const kept: ClientTool = weather
export { kept, tools }
