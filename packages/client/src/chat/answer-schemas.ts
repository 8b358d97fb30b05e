/** What the user answers to interrupts, held against the schemas for it before anything is sent. It sends and notes nothing. */
import { UsageError, type Interrupt } from '@millrace/protocol'
import { isRecord } from '../checks.ts'
import { checkedBy, requireSchema, type Checked } from '../tools/standard-schema.ts'
import type { AnswerSchemas } from '../tools/tool-types.ts'
import type { InterruptAnswer } from './options.ts'

/** @throws UsageError `bad-options`, `bad-tool`. */
export function checkAnswerSchemas(schemas: AnswerSchemas | undefined): void {
  if (schemas === undefined) return
  if (!isRecord(schemas)) throw new UsageError('bad-options', '`answers` has to be an object with a schema for each reason of interrupts.')
  for (const [reason, schema] of Object.entries(schemas)) requireSchema(schema, `The schema of answers to "${reason}"`)
}

/**
 * An answer with its payload as the schema for the reason of its interrupt gives it; at once if the schema can. The same one if there
 * is no schema for it, or nothing is said: whether it may be answered at all is not decided here.
 * @throws UsageError `malformed-answer`, naming what the schema finds wrong.
 */
export function heldAnswer<Answer extends InterruptAnswer>(
  schemas: AnswerSchemas | undefined,
  interrupts: readonly Interrupt[],
  interruptId: string,
  answer: Answer,
): Answer | Promise<Answer> {
  const reason = interrupts.find(({ id }) => id === interruptId)?.reason
  const schema = schemas !== undefined && reason !== undefined && Object.hasOwn(schemas, reason) ? schemas[reason] : undefined
  if (schema === undefined || !isRecord(answer) || answer.status !== 'resolved') return answer
  const take = (checked: Checked): Answer => {
    if (checked.wrong === undefined) return { ...answer, payload: checked.value }
    throw new UsageError('malformed-answer', `The answer to interrupt "${interruptId}" (${reason}) is not what it takes: ${checked.wrong}`)
  }
  const checked = checkedBy(schema, answer.payload)
  return checked instanceof Promise ? checked.then(take) : take(checked)
}
