// Walks over a JSON text, valid or not, giving only what shows its shape: brackets, strings, line ends.

export interface JsonToken {
  readonly kind: '{' | '[' | '}' | ']' | '\n' | 'string'
  readonly start: number
  /** Behind its last character. */
  readonly end: number
  /** The text ends inside this string. */
  readonly cut?: true
}

const SHAPE = /["[\]{}\n]/g

export function* jsonTokens(text: string): Generator<JsonToken> {
  for (let at = 0; ; ) {
    SHAPE.lastIndex = at
    const start = SHAPE.exec(text)?.index
    if (start === undefined) return
    const char = text[start] as '"' | Exclude<JsonToken['kind'], 'string'>
    if (char !== '"') {
      at = start + 1
      yield { kind: char, start, end: at }
      continue
    }
    const end = stringEnd(text, start + 1)
    if (end === -1) {
      yield { kind: 'string', start, end: text.length, cut: true }
      return
    }
    at = end
    yield { kind: 'string', start, end }
  }
}

/** Behind the quote that closes the string whose content begins at `from`, or -1. */
function stringEnd(text: string, from: number): number {
  for (let at = from; ; ) {
    const quote = text.indexOf('"', at)
    if (quote === -1) return -1
    let backslashes = 0
    while (quote - backslashes > from && text[quote - backslashes - 1] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return quote + 1
    at = quote + 1
  }
}

/** The key a string is, if a colon follows it. */
export function keyAt(text: string, token: JsonToken): { name: string; valueStart: number } | undefined {
  VALUE.lastIndex = token.end
  const colon = VALUE.exec(text)
  if (colon === null) return undefined
  return { name: text.slice(token.start + 1, token.end - 1), valueStart: token.end + colon[0].length }
}

const VALUE = /\s*:\s*/y
