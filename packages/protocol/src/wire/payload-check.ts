/**
 * Whether an answer is what the schema of an interrupt asks for. Of JSON Schema it knows what such schemas are made of
 * (`type`, `enum`, `const`, `properties`, `required`, `additionalProperties`, `items`, `allOf`, `anyOf`, `oneOf`); what it
 * does not know refuses nothing: the agent has the last word. It throws nothing and follows no references.
 */
import { isObject, jsonEqual } from '../json-value.ts'
import type { PayloadCheck } from './resume.ts'

/** Where a value is wrong (JSON Pointer, RFC 6901), and what it has to be. */
interface Fault {
  readonly at: string
  readonly must: string
}

/** Schemas within schemas that are looked into. A deeper one is the agent's to check. */
const MAX_DEPTH = 64

/**
 * The check on answers that comes with this package. An absent payload counts as null, as the wire has it.
 * @returns the JSON pointer of the first value that does not fit, and what it has to be; undefined if all fits.
 */
export const checkPayload: PayloadCheck = (schema, payload) => {
  const fault = faultOf(schema, payload ?? null, '', 0)
  return fault === undefined ? undefined : `"${fault.at}" ${fault.must}`
}

function faultOf(schema: unknown, value: unknown, at: string, depth: number): Fault | undefined {
  if (schema === false) return { at, must: 'has to be left out' }
  if (!isObject(schema) || depth > MAX_DEPTH) return undefined
  return (
    valueFault(schema, value, at) ??
    (isObject(value) ? objectFault(schema, value, at, depth + 1) : undefined) ??
    (Array.isArray(value) ? listFault(schema, value, at, depth + 1) : undefined) ??
    branchFault(schema, value, at, depth + 1)
  )
}

function valueFault(schema: Record<string, unknown>, value: unknown, at: string): Fault | undefined {
  const { type, enum: members } = schema
  const types = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string' && Object.hasOwn(TYPES, name))
  if (types.length > 0 && !types.some((name) => TYPES[name as keyof typeof TYPES](value))) return { at, must: `has to be of type ${types.join(' or ')}` }
  if (Object.hasOwn(schema, 'const') && !jsonEqual(schema['const'], value)) return { at, must: `has to be ${JSON.stringify(schema['const'])}` }
  if (!Array.isArray(members) || members.some((member) => jsonEqual(member, value))) return undefined
  return { at, must: `has to be one of ${members.map((member) => JSON.stringify(member)).join(', ')}` }
}

const isNumber = (value: unknown): boolean => typeof value === 'number'

const TYPES = {
  null: (value: unknown) => value === null,
  boolean: (value: unknown) => typeof value === 'boolean',
  string: (value: unknown) => typeof value === 'string',
  number: isNumber,
  integer: (value: unknown) => Number.isInteger(value),
  object: isObject,
  array: (value: unknown) => Array.isArray(value),
} as const

function objectFault(schema: Record<string, unknown>, value: Record<string, unknown>, at: string, depth: number): Fault | undefined {
  const { required, properties, additionalProperties, patternProperties } = schema
  const known = isObject(properties) ? properties : {}
  for (const name of Array.isArray(required) ? required : []) {
    if (typeof name === 'string' && !has(value, name)) return { at: under(at, name), must: 'is missing' }
  }
  for (const name of Object.keys(value)) {
    if (value[name] === undefined) continue
    // A name may be meant by a pattern, which is not looked at.
    const own = Object.hasOwn(known, name) ? known[name] : patternProperties === undefined ? additionalProperties : undefined
    const fault = faultOf(own, value[name], under(at, name), depth)
    if (fault !== undefined) return fault
  }
  return undefined
}

function listFault({ items }: Record<string, unknown>, value: readonly unknown[], at: string, depth: number): Fault | undefined {
  if (!isObject(items)) return undefined
  for (let index = 0; index < value.length; index++) {
    const fault = faultOf(items, value[index], under(at, String(index)), depth)
    if (fault !== undefined) return fault
  }
  return undefined
}

/**
 * `oneOf` is held to one fit at least: of two branches that both seem to fit, one may differ by a keyword that is not known.
 */
function branchFault({ allOf, anyOf, oneOf }: Record<string, unknown>, value: unknown, at: string, depth: number): Fault | undefined {
  for (const schema of Array.isArray(allOf) ? allOf : []) {
    const fault = faultOf(schema, value, at, depth)
    if (fault !== undefined) return fault
  }
  return noBranchFits(anyOf, value, at, depth) ?? noBranchFits(oneOf, value, at, depth)
}

/** The fault of the branch that went furthest: it is the one that was meant. */
function noBranchFits(branches: unknown, value: unknown, at: string, depth: number): Fault | undefined {
  let furthest: Fault | undefined
  for (const branch of Array.isArray(branches) ? branches : []) {
    const fault = faultOf(branch, value, at, depth)
    if (fault === undefined) return undefined
    if (furthest === undefined || tokens(fault) > tokens(furthest)) furthest = fault
  }
  return furthest
}

function tokens({ at }: Fault): number {
  return at.split('/').length
}

function has(value: Record<string, unknown>, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined
}

function under(at: string, name: string): string {
  return `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
