/** Why a server refuses, where it says so in JSON. Pure. */

/** What a JSON text says was wrong, in one of the usual places; undefined if it does not, or is no JSON. */
export function reasonIn(text: string | undefined): string | undefined {
  try {
    return reasonOf(JSON.parse(text ?? ''))
  } catch {
    return undefined
  }
}

/** As {@link reasonIn}, for a value (RFC 9457 and others); of several reasons the first. */
export function reasonOf(value: unknown): string | undefined {
  const { message, error, errors, detail, title } = Object(value) as Record<string, unknown>
  const places = [message, error, Object(error).message, detail, ...[errors, detail].flatMap(firstOf), title]
  return places.find((said): said is string => typeof said === 'string' && said !== '')
}

function firstOf(list: unknown): unknown[] {
  const first: unknown = Array.isArray(list) ? list[0] : undefined
  const { message, msg } = Object(first) as Record<string, unknown>
  return [first, message, msg]
}
