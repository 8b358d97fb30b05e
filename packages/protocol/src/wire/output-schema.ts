/**
 * How a run input says that the answer is to be a JSON value: its JSON Schema stands in `forwardedProps` under one name. AG-UI 1.0 has
 * no field for it and leaves `forwardedProps` to the two ends; the name is the field's (`outputSchema`).
 */
import type { RunAgentInput } from '../events/event.ts'
import { isObject } from '../json-value.ts'

const NAME = 'outputSchema'

/** Forwarded properties that ask for a value of this JSON Schema, as long as they do not say otherwise themselves. */
export function withOutputSchema(
  forwardedProps: Readonly<Record<string, unknown>> | undefined,
  schema: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return { [NAME]: schema, ...forwardedProps }
}

/**
 * The JSON Schema of the value that a client asks for as the answer.
 * @param input a run input; only its `forwardedProps` are looked at.
 * @returns undefined if it asks for none: the answer is text.
 */
export function outputSchemaOf(input: Pick<RunAgentInput, 'forwardedProps'>): Record<string, unknown> | undefined {
  const props: unknown = input.forwardedProps
  const schema = isObject(props) && Object.hasOwn(props, NAME) ? props[NAME] : undefined
  return isObject(schema) ? schema : undefined
}
