/**
 * Enforcement (AG-UI 1.0, processing): holds a value against its shape. What is unknown is removed and reported,
 * what is malformed is refused. Values are never changed in place: an object that loses something is copied.
 */
import type { Reporter } from '../diagnostics.ts'
import type { ProtocolError } from '../errors.ts'
import { define, isObject } from '../json-value.ts'
import type { RuleId } from '../severities.ts'
import { string, type ObjectShape, type Shape, type UnionShape } from './shape.ts'

/** Stands for a value that an unknown union member took with it. */
const GONE: unique symbol = Symbol('gone')

interface Removal {
  readonly rule: RuleId
  readonly path: string
  readonly message: string
}

/** Why something is removed. */
const REMOVED = {
  'event.unknown-field': 'is no field that AG-UI 1.0 has here; it was removed',
  'event.null-field': 'is null; read as absent',
  'event.unknown-member': 'has a value that AG-UI 1.0 does not define; it was removed',
} as const

/** A JSON pointer (RFC 6901) of what `keys` lead to. */
export function toPointer(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

export class Enforcer {
  readonly #reporter: Reporter
  readonly #depth: number
  readonly #nulls: 'malformed' | 'absent'
  /** Where we are in the value: pushed only on the way into nested ones. */
  #path: (string | number)[] = []
  #removals: Removal[] = []

  /**
   * @param nulls what null is where an optional field cannot hold it. AG-UI 1.0 says malformed; serialisers that write what is
   * absent as null are common, and reading it so loses nothing.
   */
  constructor(reporter: Reporter, jsonDepth: number, nulls: 'malformed' | 'absent' = 'malformed') {
    this.#reporter = reporter
    this.#depth = jsonDepth
    this.#nulls = nulls
  }

  /**
   * The value as its shape allows it: the same object if nothing had to go.
   * @returns undefined if nothing is left of it (reported).
   * @throws ProtocolError `malformed` with the pointer of the offending field.
   */
  enforce(shape: UnionShape | ObjectShape, value: unknown): Record<string, unknown> | undefined {
    this.#path = []
    this.#removals = []
    const kept = this.#check(shape, value)
    if (kept === GONE) return undefined
    if (this.#removals.length > 0) {
      for (const { rule, path, message } of this.#removals) this.#reporter.report(rule, { message, pointer: path })
    }
    return kept as Record<string, unknown>
  }

  #check(shape: Shape, value: unknown): unknown {
    switch (shape.kind) {
      case 'string':
        return typeof value === 'string' ? value : this.#fail('a string', value)
      case 'json':
        this.#open(value, 0)
        return value
      case 'value':
        if (value === null) return this.#fail('a value that is not null', value)
        this.#open(value, 0)
        return value
      case 'record':
        if (!isObject(value)) return this.#fail('an object', value)
        this.#open(value, 0)
        return value
      case 'object':
        return this.#object(shape, value)
      case 'union':
        return this.#union(shape, value)
      case 'list':
        return this.#list(shape.of, shape.min, value)
      case 'stringOr':
        if (typeof value === 'string') return value
        return Array.isArray(value) ? this.#check(shape.list, value) : this.#fail('a string or a list of parts', value)
      case 'integer':
        return Number.isSafeInteger(value) && (value as number) >= shape.min
          ? value
          : this.#fail(shape.min === 0 ? 'an integer from 0' : 'an integer', value)
      case 'boolean':
        return typeof value === 'boolean' ? value : this.#fail('a boolean', value)
      case 'pointer':
        return typeof value === 'string' && POINTER.test(value) ? value : this.#fail('a JSON pointer (RFC 6901)', value)
      case 'literal':
        return value === shape.value ? value : this.#fail(`"${shape.value}"`, value)
      case 'oneOf':
        if (typeof value !== 'string') return this.#fail(`one of ${[...shape.values].join(', ')}`, value)
        return shape.values.has(value) ? value : GONE
    }
  }

  #object(shape: ObjectShape, value: unknown): unknown {
    if (!isObject(value)) return this.#fail('an object', value)
    let copy: Record<string, unknown> | undefined
    let missing = shape.required.length
    const fields = shape.fields
    for (const key of Object.keys(value)) {
      const field = fields.get(key)
      const member = value[key]
      let removed: keyof typeof REMOVED | undefined
      if (field === undefined) {
        if (shape.open) continue
        removed = 'event.unknown-field'
      } else if (member === undefined) {
        continue
      } else if (member === null && field.optional && this.#nulls === 'absent' && field.shape.kind !== 'json') {
        removed = 'event.null-field'
      } else {
        const kept = field.shape === string && typeof member === 'string' ? member : this.#member(field.shape, key, member)
        if (kept === GONE) {
          if (!field.optional) return GONE
          removed = 'event.unknown-member'
        } else {
          if (!field.optional) missing--
          if (kept !== member) define((copy ??= { ...value }), key, kept)
        }
      }
      if (removed !== undefined) {
        this.#removed(removed, key)
        copy ??= { ...value }
        delete copy[key]
      }
    }
    const absent = missing > 0 && shape.required.find((key) => !Object.hasOwn(value, key) || value[key] === undefined)
    return absent ? this.#missing(absent) : (copy ?? value)
  }

  /** What is kept of a member; of one that is gone, what was removed inside is not told. */
  #member(shape: Shape, key: string | number, member: unknown): unknown {
    const mark = this.#removals.length
    this.#path.push(key)
    const kept = this.#check(shape, member)
    this.#path.pop()
    if (kept === GONE) this.#removals.length = mark
    return kept
  }

  #union(shape: UnionShape, value: unknown): unknown {
    if (!isObject(value)) return this.#fail('an object', value)
    const tag = Object.hasOwn(value, shape.tag) ? value[shape.tag] : undefined
    if (tag === undefined) return this.#missing(shape.tag)
    if (typeof tag !== 'string') return this.#member(string, shape.tag, tag)
    const member = shape.members.get(tag)
    return member === undefined ? GONE : this.#object(member, value)
  }

  #list(of: Shape, min: number, value: unknown): unknown {
    if (!Array.isArray(value)) return this.#fail('a list', value)
    if (value.length < min) return this.#malformed(`a list needs at least ${min} element${min === 1 ? '' : 's'}`)
    let kept: unknown[] | undefined
    for (let index = 0; index < value.length; index++) {
      const element = this.#member(of, index, value[index])
      if (element !== value[index]) kept ??= value.slice(0, index)
      if (element === GONE) this.#removed('event.unknown-member', index)
      else kept?.push(element)
    }
    return kept ?? value
  }

  /** Bounds the depth of what the application will walk; a cycle of an in-process event is caught by it too. */
  #open(value: unknown, depth: number): void {
    if (typeof value !== 'object' || value === null) return
    if (depth >= this.#depth) {
      throw this.#error('limit', 'event.too-deep', `is nested deeper than limits.jsonDepth (${this.#depth})`)
    }
    if (Array.isArray(value)) for (const element of value) this.#open(element, depth + 1)
    else for (const key of Object.keys(value)) this.#open((value as Record<string, unknown>)[key], depth + 1)
  }

  #removed(rule: keyof typeof REMOVED, key: string | number): void {
    this.#removals.push({ rule, path: toPointer([...this.#path, key]), message: `\`${key}\` ${REMOVED[rule]}` })
  }

  #fail(expected: string, value: unknown): never {
    return this.#malformed(`expected ${expected}, got ${kindOf(value)}`)
  }

  #missing(key: string): never {
    this.#path.push(key)
    return this.#malformed(`required field \`${key}\` is missing`)
  }

  #malformed(what: string): never {
    throw this.#error('malformed', 'event.malformed', what)
  }

  #error(code: 'malformed' | 'limit', rule: RuleId, what: string): ProtocolError {
    const pointer = toPointer(this.#path)
    const where = pointer === '' ? '' : ` at ${pointer}`
    return this.#reporter.error(code, rule, { message: `${this.#reporter.type ?? 'Value'} is malformed${where}: ${what}`, pointer })
  }
}
