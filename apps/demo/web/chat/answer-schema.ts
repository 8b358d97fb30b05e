/** Reads the part of JSON Schema that a small form can show: one object of choices, yes/no, numbers and short texts. */
import { isRecord } from '../json-text.ts'

export interface Choice {
  readonly value: string
  readonly label: string
  readonly hint?: string
}

interface FieldBase {
  readonly name: string
  readonly label: string
  readonly required: boolean
}

export type Field =
  | (FieldBase & { readonly kind: 'choice'; readonly choices: readonly Choice[]; readonly initial: string })
  | (FieldBase & { readonly kind: 'yes-no'; readonly initial: boolean })
  | (FieldBase & { readonly kind: 'number'; readonly min?: number; readonly max?: number; readonly initial: string })
  | (FieldBase & { readonly kind: 'text'; readonly maxLength: number; readonly initial: string })

export type Values = Readonly<Record<string, string | boolean>>

const fieldLimit = 12
const choiceLimit = 20

const textOr = (value: unknown, other: string): string => (typeof value === 'string' ? value : other)

function choicesOf({ oneOf, enum: values }: Record<string, unknown>): Choice[] {
  if (Array.isArray(oneOf)) {
    return oneOf.filter(isRecord).flatMap(({ const: value, title, description }) => {
      if (typeof value !== 'string') return []
      return [{ value, label: textOr(title, value), ...(typeof description === 'string' && { hint: description }) }]
    })
  }
  if (!Array.isArray(values)) return []
  return values.flatMap((value) => (typeof value === 'string' ? [{ value, label: value }] : []))
}

/** @returns the fields of an interrupt's `responseSchema`; none if it asks for nothing that we can show. */
export function fieldsOf(schema: unknown): Field[] {
  if (!isRecord(schema) || !isRecord(schema['properties'])) return []
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(schema['properties'])
    .slice(0, fieldLimit)
    .flatMap(([name, property]): Field[] => {
      if (!isRecord(property)) return []
      const base = { name, label: textOr(property['title'], name), required: required.includes(name) }
      const initial = property['default']
      const choices = choicesOf(property).slice(0, choiceLimit)
      if (choices.length > 0) return [{ ...base, kind: 'choice', choices, initial: textOr(initial, '') }]
      switch (property['type']) {
        case 'boolean':
          return [{ ...base, kind: 'yes-no', initial: initial === true }]
        case 'integer':
        case 'number': {
          const { minimum: min, maximum: max } = property
          const range = { ...(typeof min === 'number' && { min }), ...(typeof max === 'number' && { max }) }
          return [{ ...base, kind: 'number', ...range, initial: typeof initial === 'number' ? String(initial) : '' }]
        }
        case 'string': {
          const { maxLength } = property
          return [
            { ...base, kind: 'text', maxLength: typeof maxLength === 'number' ? maxLength : 500, initial: textOr(initial, '') },
          ]
        }
        default:
          return []
      }
    })
}

export function initialValues(fields: readonly Field[]): Values {
  return Object.fromEntries(fields.map(({ name, initial }) => [name, initial]))
}

/** What goes back as `payload`: empty optional fields are left out. */
export function payloadOf(fields: readonly Field[], values: Values): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap(({ name, kind }): [string, unknown][] => {
      const value = values[name]
      if (kind === 'yes-no') return [[name, value === true]]
      if (typeof value !== 'string' || value.trim() === '') return []
      return [[name, kind === 'number' ? Number(value) : value.trim()]]
    }),
  )
}

/** The answer in words, for the transcript. */
export function answerText(fields: readonly Field[], values: Values): string {
  const words = fields.flatMap((field) => {
    const value = values[field.name]
    if (field.kind === 'yes-no') return value === true ? [lowerFirst(field.label)] : []
    if (typeof value !== 'string' || value.trim() === '') return []
    return [field.kind === 'choice' ? (field.choices.find((choice) => choice.value === value)?.label ?? value) : value.trim()]
  })
  return words.join(' · ') || 'Yes'
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)
