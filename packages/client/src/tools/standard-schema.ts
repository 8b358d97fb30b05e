/**
 * Validators as the Standard Schema interface has them (standardschema.dev, version 1): zod, valibot, arktype and
 * others. Only what is used of it is written down here, so that none of them is a dependency.
 */
import { UsageError } from '@millrace/protocol'
import { toError } from '../errors.ts'

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    /** For the type checker alone. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** What a schema takes in, if its library tells. */
export type SchemaInput<Schema> = Schema extends StandardSchema<infer Input, unknown> ? Input : never

/** What a schema makes of a value it accepts. */
export type SchemaOutput<Schema> = Schema extends StandardSchema<unknown, infer Output> ? Output : never

/** The value as the schema gives it, or what is wrong with it, for people. */
export async function validate<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
): Promise<{ readonly value: Output } | { readonly wrong: string }> {
  return said(await schema['~standard'].validate(value))
}

/** What a schema says of a value; `cause` is what it threw, if it did. */
export type Checked = { readonly value: unknown; readonly wrong?: undefined } | { readonly wrong: string; readonly cause?: unknown }

/** As {@link validate}, at once if the schema can, and without throwing. */
export function checkedBy(schema: StandardSchema<unknown, unknown>, value: unknown): Checked | Promise<Checked> {
  try {
    const result = schema['~standard'].validate(value)
    return 'then' in result ? result.then(said<unknown>).catch(threw) : said(result)
  } catch (thrown) {
    return threw(thrown)
  }
}

function said<Output>(result: SchemaResult<Output>): { readonly value: Output } | { readonly wrong: string } {
  return result.issues === undefined ? { value: result.value } : { wrong: result.issues.map(issueText).join('; ') }
}

function threw(cause: unknown): Checked {
  return { wrong: `the schema threw: ${toError(cause).message}`, cause }
}

function issueText({ message, path = [] }: SchemaIssue): string {
  const keys = path.map((step) => String(typeof step === 'object' ? step.key : step))
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`
}

/**
 * The JSON Schema of what a schema takes in, if it can give one (Standard JSON Schema, an extension of the interface).
 * @returns undefined if it cannot.
 */
export function jsonSchemaOf(schema: StandardSchema<unknown, unknown>): Record<string, unknown> | undefined {
  const { jsonSchema } = schema['~standard'] as { readonly jsonSchema?: { readonly input?: (options: { target: string }) => unknown } }
  try {
    return jsonSchema?.input?.({ target: 'draft-07' }) as Record<string, unknown> | undefined
  } catch {
    // Some of what a schema can ask for has no form in JSON Schema, such as a date.
    return undefined
  }
}

/** @throws UsageError `bad-tool`. */
export function requireSchema(schema: unknown, what: string): void {
  const standard = (Object(schema) as { readonly '~standard'?: { readonly validate?: unknown } })['~standard']
  if (typeof standard?.validate === 'function') return
  throw new UsageError('bad-tool', `${what} has to be a Standard Schema, as zod, valibot and arktype make them.`)
}
