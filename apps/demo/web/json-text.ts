/** JSON as text, bounded: what is shown comes over the wire and may be large. */
const longest = 20_000

export function jsonText(value: unknown): string {
  const text = JSON.stringify(value, null, 2) ?? String(value)
  return text.length > longest ? `${text.slice(0, longest)}\n… ${text.length - longest} characters more` : text
}

export type Scalar = string | number | boolean

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** @returns the entries of a small flat object, which reads better as a list of facts than as JSON. */
export function facts(value: unknown): [string, Scalar][] | undefined {
  if (!isRecord(value)) return undefined
  const entries = Object.entries(value)
  const flat = entries.filter((entry): entry is [string, Scalar] =>
    ['string', 'number', 'boolean'].includes(typeof entry[1]),
  )
  const small = flat.length === entries.length && flat.length > 0 && flat.length <= 8
  return small && flat.every(([, fact]) => String(fact).length <= 120) ? flat : undefined
}
