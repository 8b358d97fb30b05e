/**
 * A JSON text that is still growing → the best reading of what is there. Append-only, linear in the length of the text,
 * and nothing is parsed before somebody reads. It knows nothing of tool calls.
 *
 * The reading of a text is that of its longest beginning that valid JSON can begin with:
 * - an open list or object is given with the members it has so far;
 * - an open string is given with the characters it has so far: without an escape that is not whole, and without the
 *   first half of a surrogate pair whose other half may still come;
 * - a key without a value is left out, and so is a `true`, `false` or `null` that is not whole;
 * - a number is left out until something ends it, since `1` may become `10`. At the top nothing does, so there it is
 *   the longest number the text begins with;
 * - a key that comes twice takes its new value as soon as that begins;
 * - where there is nothing to read, it is `undefined`.
 *
 * So while a text grows its readings grow: strings and lists get longer, objects get members, nothing else changes
 * (but for a number at the top and for keys that come twice). When the text is complete, its reading is what
 * `JSON.parse` gives.
 */
import { withDefaults, type Limits } from '../limits.ts'
import { GrowingValue } from './growing-value.ts'
import { isNumberEnd, NUMBER_START, numberStep } from './json-number.ts'
import { JsonString } from './json-string.ts'

/** Why a text cannot be read any further, and where. What was read before it stays. */
export interface PartialJsonError {
  readonly code:
    /** No JSON text goes on like this. */
    | 'syntax'
    /** Nested deeper than `limits.jsonDepth`. */
    | 'too-deep'
    /** A number is longer than `limits.numberLength`. */
    | 'number-too-long'
  /** Where in the text, in UTF-16 units from 0. */
  readonly at: number
}

/** What may come next. */
type State =
  | 'value'
  /** After `[`. */
  | 'value-or-end'
  | 'key'
  /** After `{`. */
  | 'key-or-end'
  | 'colon'
  | 'after-value'
  | 'string'
  | 'escape'
  | 'number'
  | 'literal'
  | 'failed'

const LITERALS: Readonly<Record<string, { readonly word: string; readonly value: unknown }>> = {
  t: { word: 'true', value: true },
  f: { word: 'false', value: false },
  n: { word: 'null', value: null },
}
/** What a string does not take as it is. */
// oxlint-disable-next-line no-control-regex -- the grammar speaks of control characters
const STRING_STOP = /["\\\u0000-\u001f]/g
const CLOSES = { list: ']', object: '}' } as const
const QUOTE = 0x22
const BACKSLASH = 0x5c

/** A JSON text that grows, read as far as it came. One for each text; see the head of this file for what a reading is. */
export class PartialJson {
  readonly #limits: Limits
  /** What was appended and not parsed yet. */
  #text = ''
  /** Units parsed so far. */
  #parsed = 0
  #state: State = 'value'
  readonly #read = new GrowingValue()
  /** The string in hand. */
  readonly #string = new JsonString()
  #isKey = false
  /** What was entered of it; undefined before anything was. */
  #entered: string | undefined
  /** The number or literal in hand, as text. */
  #token = ''
  #number: number = NUMBER_START
  /** Length of the longest beginning of the number in hand that is a number. */
  #numeral = 0
  #error: PartialJsonError | undefined

  /** @param limits `jsonDepth` and `numberLength` apply. */
  constructor(limits?: Partial<Limits>) {
    this.#limits = withDefaults(limits)
  }

  /** Takes more of the text. Costs nothing until somebody reads. */
  append(text: string): void {
    this.#text += text
  }

  /**
   * The best reading of the text so far; see the head of this file. Immutable: a later reading shares with it all that
   * did not change, and is the same value if nothing did. A reading costs the text that is new, and one copy of each
   * list or object that is still open.
   */
  get value(): unknown {
    this.#parse()
    this.#settle()
    return this.#read.value
  }

  /** Whether the text is JSON as it stands. (A number at the top may still grow.) */
  get complete(): boolean {
    this.#parse()
    if (this.#read.depth > 0) return false
    return this.#state === 'after-value' || (this.#state === 'number' && isNumberEnd(this.#number))
  }

  /** What is wrong with the text and where; the reading is that of what came before it. */
  get error(): PartialJsonError | undefined {
    this.#parse()
    return this.#error
  }

  #parse(): void {
    const text = this.#text
    if (text === '') return
    this.#text = ''
    let at = 0
    while (at < text.length && this.#state !== 'failed') at = this.#step(text, at)
    this.#parsed += text.length
  }

  /** Takes the unit at `at`, or more; says where to go on. */
  #step(text: string, at: number): number {
    switch (this.#state) {
      case 'string':
        return this.#scanString(text, at)
      case 'number':
        return this.#scanNumber(text, at)
      case 'escape':
        return this.#escape(text[at] as string, at)
      case 'literal':
        return this.#literal(text[at] as string, at)
      default:
    }
    const unit = text.charCodeAt(at)
    return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09 ? at + 1 : this.#punctuation(text[at] as string, at)
  }

  #punctuation(char: string, at: number): number {
    const state = this.#state
    switch (state) {
      case 'colon':
        if (char !== ':') return this.#fail('syntax', at)
        this.#state = 'value'
        return at + 1
      case 'key':
      case 'key-or-end':
        if (char === '"') return this.#openString(true, at)
        return char === '}' && state === 'key-or-end' ? this.#close(at) : this.#fail('syntax', at)
      case 'after-value': {
        const { inside } = this.#read
        if (inside !== undefined && char === CLOSES[inside]) return this.#close(at)
        if (inside === undefined || char !== ',') return this.#fail('syntax', at)
        this.#state = inside === 'list' ? 'value' : 'key'
        return at + 1
      }
      default:
        return char === ']' && state === 'value-or-end' ? this.#close(at) : this.#openValue(char, at)
    }
  }

  #openValue(char: string, at: number): number {
    if (char === '"') return this.#openString(false, at)
    if (char === '{') return this.#open({}, 'key-or-end', at)
    if (char === '[') return this.#open([], 'value-or-end', at)
    this.#token = ''
    if (char === '-' || (char >= '0' && char <= '9')) {
      this.#number = NUMBER_START
      this.#numeral = 0
      this.#state = 'number'
      return at
    }
    if (!Object.hasOwn(LITERALS, char)) return this.#fail('syntax', at)
    this.#state = 'literal'
    return this.#literal(char, at)
  }

  #open(container: Record<string, unknown> | unknown[], state: State, at: number): number {
    if (this.#read.depth >= this.#limits.jsonDepth) return this.#fail('too-deep', at)
    this.#read.open(container)
    this.#state = state
    return at + 1
  }

  #close(at: number): number {
    this.#read.close()
    this.#state = 'after-value'
    return at + 1
  }

  #openString(isKey: boolean, at: number): number {
    this.#string.start()
    this.#isKey = isKey
    this.#entered = undefined
    this.#state = 'string'
    return at + 1
  }

  #scanString(text: string, from: number): number {
    STRING_STOP.lastIndex = from
    const at = STRING_STOP.test(text) ? STRING_STOP.lastIndex - 1 : text.length
    if (at > from) this.#string.add(text.slice(from, at))
    if (at === text.length) return at
    const unit = text.charCodeAt(at)
    if (unit === BACKSLASH) this.#state = 'escape'
    else if (unit === QUOTE) this.#endString()
    else return this.#fail('syntax', at)
    return at + 1
  }

  #endString(): void {
    this.#string.end()
    if (this.#isKey) {
      this.#read.nextKey(this.#string.text)
      this.#state = 'colon'
    } else {
      this.#enterString()
      this.#state = 'after-value'
    }
  }

  #escape(char: string, at: number): number {
    const got = this.#string.escape(char)
    if (got === 'none') return this.#fail('syntax', at)
    if (got === 'whole') this.#state = 'string'
    return at + 1
  }

  #scanNumber(text: string, from: number): number {
    const before = this.#token.length - from
    let at = from
    for (; at < text.length; at++) {
      const next = numberStep(this.#number, text.charCodeAt(at))
      if (next === undefined) break
      if (before + at >= this.#limits.numberLength) {
        this.#token += text.slice(from, at)
        return this.#fail('number-too-long', at)
      }
      this.#number = next
      if (isNumberEnd(next)) this.#numeral = before + at + 1
    }
    this.#token += text.slice(from, at)
    if (at === text.length) return at
    if (!isNumberEnd(this.#number) || !this.#mayFollow(text[at] as string)) return this.#fail('syntax', at)
    this.#read.enter(Number(this.#token))
    this.#state = 'after-value'
    return at
  }

  /** Whether a character may stand behind a value here. */
  #mayFollow(char: string): boolean {
    const { inside } = this.#read
    return ' \n\r\t'.includes(char) || (inside !== undefined && (char === ',' || char === CLOSES[inside]))
  }

  #literal(char: string, at: number): number {
    this.#token += char
    const { word, value } = LITERALS[this.#token[0] as string] as { word: string; value: unknown }
    if (!word.startsWith(this.#token)) return this.#fail('syntax', at)
    if (word === this.#token) {
      this.#read.enter(value)
      this.#state = 'after-value'
    }
    return at + 1
  }

  /** Enters what is read of the value in hand and is not shown yet. */
  #settle(): void {
    const state = this.#state
    if (state === 'string' || state === 'escape') {
      if (!this.#isKey) this.#enterString()
    } else if (state === 'number' && this.#read.depth === 0 && this.#numeral > 0) {
      this.#read.enter(Number(this.#token.slice(0, this.#numeral)))
    }
  }

  #enterString(): void {
    const { text } = this.#string
    // It only grows, so its length tells whether it is the same; comparing would look into it.
    if (this.#entered?.length === text.length) return
    this.#read.enter(text, this.#entered !== undefined)
    this.#entered = text
  }

  /** @param at offset in the text in hand */
  #fail(code: PartialJsonError['code'], at: number): number {
    this.#settle()
    this.#error = { code, at: this.#parsed + at }
    this.#state = 'failed'
    return at
  }
}
