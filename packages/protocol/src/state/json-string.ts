/** A JSON string while it comes: decoded, built from pieces (RFC 8259 §7). It does not look for its end. */

const ESCAPES: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
const HEX = /[0-9a-fA-F]/

export class JsonString {
  /**
   * The characters so far, without the first half of a surrogate pair whose other half may still come. Pieces are
   * joined and never looked into: the engine copies the characters when somebody reads them.
   */
  text = ''
  /** Such a first half. */
  #half = ''
  /** Digits of a `\u` escape; undefined outside of one. */
  #hex: string | undefined

  /** Begins anew. */
  start(): void {
    this.text = this.#half = ''
    this.#hex = undefined
  }

  /** Takes characters that stand for themselves. */
  add(piece: string): void {
    const last = piece.charCodeAt(piece.length - 1)
    const half = last >= 0xd800 && last <= 0xdbff
    this.text += this.#half + (half ? piece.slice(0, -1) : piece)
    this.#half = half ? piece.slice(-1) : ''
  }

  /**
   * Takes the next character of an escape, behind its backslash.
   * @returns whether the escape is whole, wants more, or is none.
   */
  escape(char: string): 'whole' | 'more' | 'none' {
    if (this.#hex === undefined) {
      if (char === 'u') {
        this.#hex = ''
        return 'more'
      }
      if (!Object.hasOwn(ESCAPES, char)) return 'none'
      this.add(ESCAPES[char] as string)
      return 'whole'
    }
    if (!HEX.test(char)) return 'none'
    this.#hex += char
    if (this.#hex.length < 4) return 'more'
    this.add(String.fromCharCode(Number.parseInt(this.#hex, 16)))
    this.#hex = undefined
    return 'whole'
  }

  /** Nothing more comes. */
  end(): void {
    this.text += this.#half
    this.#half = ''
  }
}
