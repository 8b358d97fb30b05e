/**
 * JSON Patch (RFC 6902) over immutable values: atomic, and sharing every branch that a patch does not touch. Paths
 * are RFC 6901. Members are own properties only; a key like `__proto__` is data and never reaches a prototype.
 */
import type { JsonPatch, JsonPatchOperation } from '../events/event.ts'

export type JsonPatchErrorCode =
  /** The path leads through something that is not there or has no members. */
  | 'path-missing'
  /** An array index that is no index, or out of range. */
  | 'bad-index'
  /** A `test` found another value. */
  | 'test-failed'
  /** `move` into the moved value itself. */
  | 'move-into-self'

/** A patch that does not apply; the document is as before. */
export class JsonPatchError extends Error {
  override readonly name: string = 'JsonPatchError'
  readonly code: JsonPatchErrorCode
  /** Index of the operation in its patch. */
  readonly operation: number
  readonly path: string

  constructor(code: JsonPatchErrorCode, operation: number, path: string) {
    super(`Operation ${operation} does not apply at "${path}": ${code}`)
    this.code = code
    this.operation = operation
    this.path = path
  }
}

type Container = Record<string, unknown> | unknown[]

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

/** The reference tokens of a pointer; the pointer is known to be well formed. */
function tokensOf(path: string): string[] {
  if (path === '') return []
  const tokens = path.slice(1).split('/')
  return path.includes('~') ? tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~')) : tokens
}

const INDEX = /^(?:0|[1-9][0-9]*)$/

/** Equality of JSON values (RFC 6902 §4.6). */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) return false
  if (Array.isArray(a)) {
    const other = b as unknown[]
    return a.length === other.length && a.every((element, index) => jsonEqual(element, other[index]))
  }
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && jsonEqual(a[key], (b as Record<string, unknown>)[key]))
  )
}

/**
 * A document under patches. Between two readings of `value` a container is copied at most once, however many patches
 * edit it: what nobody has seen is edited in place.
 */
export class PatchedDocument {
  #root: unknown
  /** Containers made since `value` was read last: nobody else holds them. */
  readonly #owned = new Set<object>()
  #undo: (() => void)[] = []
  #operation = 0
  #path = ''

  constructor(value: unknown) {
    this.#root = value
  }

  /** The document. From here on it is shared and will not change. */
  get value(): unknown {
    this.#owned.clear()
    return this.#root
  }

  set value(value: unknown) {
    this.#owned.clear()
    this.#root = value
  }

  /**
   * Applies all operations, or none.
   * @throws JsonPatchError with the operation and path that do not apply.
   */
  apply(patch: JsonPatch): void {
    this.#undo = []
    try {
      for (let index = 0; index < patch.length; index++) {
        this.#operation = index
        this.#apply(patch[index] as JsonPatchOperation)
      }
    } catch (error) {
      for (let index = this.#undo.length - 1; index >= 0; index--) (this.#undo[index] as () => void)()
      throw error
    } finally {
      this.#undo = []
    }
  }

  #apply(operation: JsonPatchOperation): void {
    this.#path = operation.path
    const tokens = tokensOf(operation.path)
    switch (operation.op) {
      case 'add':
        return this.#add(tokens, operation.value)
      case 'replace':
        this.#read(tokens)
        return this.#set(tokens, operation.value)
      case 'remove':
        this.#remove(tokens)
        return
      case 'test':
        if (!jsonEqual(this.#read(tokens), operation.value)) throw this.#error('test-failed')
        return
      case 'copy': {
        const value = this.#readFrom(operation.from)
        // The value now stands in two places, so neither may be edited in place any more.
        if (isContainer(value)) this.#owned.clear()
        return this.#add(tokens, value)
      }
      case 'move': {
        const { from, path } = operation
        const value = this.#readFrom(from)
        if (from === path) return
        if (path.startsWith(`${from}/`)) throw this.#error('move-into-self')
        this.#remove(tokensOf(from))
        return this.#add(tokens, value)
      }
    }
  }

  #error(code: JsonPatchErrorCode): JsonPatchError {
    return new JsonPatchError(code, this.#operation, this.#path)
  }

  #readFrom(from: string): unknown {
    const path = this.#path
    this.#path = from
    const value = this.#read(tokensOf(from))
    this.#path = path
    return value
  }

  #read(tokens: readonly string[]): unknown {
    let value = this.#root
    for (const token of tokens) value = this.#member(value, token)
    return value
  }

  #member(parent: unknown, token: string): unknown {
    if (Array.isArray(parent)) return parent[this.#index(token, parent.length - 1)]
    if (!isContainer(parent) || !Object.hasOwn(parent, token)) throw this.#error('path-missing')
    return (parent as Record<string, unknown>)[token]
  }

  #index(token: string, last: number): number {
    const index = INDEX.test(token) ? Number(token) : -1
    if (index < 0 || index > last) throw this.#error('bad-index')
    return index
  }

  /** The container that holds the last token, owned all the way down so that it can be edited. */
  #ownParent(tokens: readonly string[]): Container {
    let parent = this.#own(this.#root)
    if (parent !== this.#root) this.#setRoot(parent)
    for (let depth = 0; depth < tokens.length - 1; depth++) {
      const token = tokens[depth] as string
      const child = this.#member(parent, token)
      const owned = this.#own(child)
      if (owned !== child) this.#put(parent, token, owned)
      parent = owned
    }
    return parent
  }

  #own(value: unknown): Container {
    if (!isContainer(value)) throw this.#error('path-missing')
    if (this.#owned.has(value)) return value
    const copy = Array.isArray(value) ? value.slice() : { ...value }
    this.#owned.add(copy)
    return copy
  }

  #setRoot(value: unknown): void {
    const before = this.#root
    this.#undo.push(() => {
      this.#root = before
    })
    this.#root = value
  }

  #add(tokens: readonly string[], value: unknown): void {
    if (tokens.length === 0) return this.#setRoot(value)
    const parent = this.#ownParent(tokens)
    const token = tokens.at(-1) as string
    if (!Array.isArray(parent)) return this.#put(parent, token, value)
    const index = token === '-' ? parent.length : this.#index(token, parent.length)
    parent.splice(index, 0, value)
    this.#undo.push(() => parent.splice(index, 1))
  }

  #set(tokens: readonly string[], value: unknown): void {
    if (tokens.length === 0) return this.#setRoot(value)
    this.#put(this.#ownParent(tokens), tokens.at(-1) as string, value)
  }

  #remove(tokens: readonly string[]): void {
    if (tokens.length === 0) return this.#setRoot(null)
    const parent = this.#ownParent(tokens)
    const token = tokens.at(-1) as string
    const before = this.#member(parent, token)
    if (Array.isArray(parent)) {
      const index = Number(token)
      parent.splice(index, 1)
      this.#undo.push(() => parent.splice(index, 0, before))
    } else {
      const order = Object.keys(parent)
      delete parent[token]
      // Undone, the member would come last; put all back in the order they had.
      this.#undo.push(() => restore(parent, order, token, before))
    }
  }

  /** Sets a member of an owned container. */
  #put(parent: Container, token: string, value: unknown): void {
    const key = token as keyof Container
    const had = Object.hasOwn(parent, key)
    const before: unknown = had ? parent[key] : undefined
    define(parent, token, value)
    this.#undo.push(() => {
      if (had) define(parent, token, before)
      else delete (parent as Record<string, unknown>)[token]
    })
  }
}

function define(parent: Container, token: string, value: unknown): void {
  if (token === '__proto__') Object.defineProperty(parent, token, { value, enumerable: true, configurable: true, writable: true })
  else (parent as Record<string, unknown>)[token] = value
}

function restore(parent: Record<string, unknown>, order: readonly string[], token: string, value: unknown): void {
  const members = order.map((key) => [key, key === token ? value : parent[key]] as const)
  for (const key of order) delete parent[key]
  for (const [key, member] of members) define(parent, key, member)
}

/**
 * Applies a patch to an immutable value.
 * @returns the patched value; it shares with the old one all that the patch did not touch.
 * @throws JsonPatchError if an operation does not apply (RFC 6902 §5: then none is applied).
 */
export function applyPatch(document: unknown, patch: JsonPatch): unknown {
  const target = new PatchedDocument(document)
  target.apply(patch)
  return target.value
}
