// What a line typed at an interrupt means, by the schema that the agent gave with it.
import { checkPayload, type Interrupt } from '@millrace/protocol'
import type { InterruptAnswer } from '@millrace/client'

const YES = /^(?:y|yes)$/i
const NO = /^(?:n|no)$/i

/** The answer to an interrupt: an empty line cancels it. */
export function answerOf(line: string, interrupt: Interrupt): InterruptAnswer {
  const text = line.trim()
  if (text === '') return { status: 'cancelled' }
  const yesNo = yesNoField(interrupt)
  if (yesNo !== undefined && (YES.test(text) || NO.test(text))) {
    const value = YES.test(text)
    return { status: 'resolved', payload: yesNo === '' ? value : { [yesNo]: value } }
  }
  return { status: 'resolved', payload: schemaType(interrupt) === 'string' ? text : parsed(text) }
}

/** Why the agent does not take an answer; undefined if it may. */
export function refusal({ status, payload }: InterruptAnswer, interrupt: Interrupt): string | undefined {
  const { responseSchema } = interrupt
  return status === 'cancelled' || responseSchema === undefined ? undefined : checkPayload(responseSchema, payload, interrupt)
}

/** How to answer, in a few words. */
export function answerHint(interrupt: Interrupt): string {
  const yesNo = yesNoField(interrupt) !== undefined ? 'y or n, ' : ''
  const rest = schemaType(interrupt) === 'string' ? 'a text' : 'JSON or a text'
  return `${yesNo}${rest}; empty to cancel`
}

/**
 * The field that y and n fill: the only boolean of the schema's object, `''` for a bare boolean. Without a schema
 * `approved`, which is what servers that ask for approval read.
 */
function yesNoField({ responseSchema }: Interrupt): string | undefined {
  if (responseSchema === undefined) return 'approved'
  if (responseSchema['type'] === 'boolean') return ''
  const { properties } = responseSchema
  if (typeof properties !== 'object' || properties === null) return undefined
  const booleans = Object.entries(properties as Record<string, unknown>).filter(
    ([, schema]) => typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'boolean',
  )
  return booleans.length === 1 ? booleans[0]?.[0] : undefined
}

function schemaType({ responseSchema }: Interrupt): unknown {
  return responseSchema?.['type']
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
