/**
 * JSON Patch (RFC 6902) over immutable values: atomic, and sharing every branch that a patch does not touch. Paths
 * are RFC 6901. Members are own properties only; a key like `__proto__` is data and never reaches a prototype. What a
 * patch may make of a document is bounded.
 */
import type { JsonPatch, JsonPatchOperation } from '../events/event.ts'
import { withDefaults, type Limits } from '../limits.ts'
import { Extents, extentOf } from './extent.ts'
import { JsonPatchError, type JsonPatchErrorCode } from './json-patch-error.ts'
import { define, isContainer, jsonEqual, reorder, type Container } from '../json-value.ts'

/** The reference tokens of a pointer; the pointer is known to be well formed. */
function tokensOf(path: string): string[] {
  if (path === '') return []
  const tokens = path.slice(1).split('/')
  return path.includes('~') ? tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~')) : tokens
}

const INDEX = /^(?:0|[1-9][0-9]*)$/

/**
 * A document under patches. Between two readings of `value` a container is copied at most once, however many patches
 * edit it: what nobody has seen is edited in place.
 */
export class PatchedDocument {
  #root: unknown
  /** Containers made since `value` was read last: nobody else holds them. */
  readonly #owned = new Set<object>()
  /** As `#owned`, with those that a copy took from us: a patch that fails may still undo what it did to them. */
  readonly #made = new Set<object>()
  readonly #limits: Limits
  readonly #extents = new Extents((container) => !this.#made.has(container))
  /** How many values there are at most; unknown until a `copy` asks. */
  #values: number | undefined
  readonly #undo: (() => void)[] = []
  /** Objects that lost a member in the patch in hand, and the order they had: put back, a member would come last. */
  readonly #orders = new Map<Record<string, unknown>, string[]>()
  /** Something of the patch may fail yet, so what is done is noted to be undone. */
  #mayFail = false
  #operation = 0
  #path = ''

  /** @param limits `jsonDepth` and `documentValues` apply. */
  constructor(value: unknown, limits?: Partial<Limits>) {
    this.#root = value
    this.#limits = withDefaults(limits)
  }

  /** The document. From here on it is shared and will not change. */
  get value(): unknown {
    this.#owned.clear()
    this.#made.clear()
    return this.#root
  }

  set value(value: unknown) {
    this.#owned.clear()
    this.#made.clear()
    this.#values = undefined
    this.#root = value
  }

  /**
   * Applies all operations, or none.
   * @throws JsonPatchError with the operation and path that do not apply.
   */
  apply(patch: JsonPatch): void {
    try {
      for (let index = 0; index < patch.length; index++) {
        const operation = patch[index] as JsonPatchOperation
        this.#operation = index
        // An operation is checked before it changes anything, but for a move, which is two.
        this.#mayFail = index < patch.length - 1 || operation.op === 'move'
        this.#apply(operation)
      }
    } catch (error) {
      for (let index = this.#undo.length - 1; index >= 0; index--) (this.#undo[index] as () => void)()
      for (const [object, order] of this.#orders) reorder(object, order)
      throw error
    } finally {
      if (this.#undo.length > 0) this.#undo.length = 0
      this.#orders.clear()
    }
  }

  #apply(operation: JsonPatchOperation): void {
    this.#path = operation.path
    const tokens = tokensOf(operation.path)
    switch (operation.op) {
      case 'add':
        this.#checkPlace(tokens)
        this.#checkNew(operation.value, tokens.length)
        return this.#add(tokens, operation.value)
      case 'replace':
        this.#read(tokens)
        this.#checkNew(operation.value, tokens.length)
        return this.#set(tokens, operation.value)
      case 'remove':
        this.#read(tokens)
        return this.#remove(tokens)
      case 'test':
        if (!jsonEqual(this.#read(tokens), operation.value)) throw this.#error('test-failed')
        return
      case 'copy': {
        const value = this.#readFrom(operation.from)
        this.#checkPlace(tokens)
        this.#checkCopy(value, tokens.length)
        this.#disown(value)
        return this.#add(tokens, value)
      }
      case 'move': {
        const { from, path } = operation
        const value = this.#readFrom(from)
        if (from === path) return
        if (path.startsWith(`${from}/`)) throw this.#error('move-into-self')
        const source = tokensOf(from)
        if (tokens.length > source.length) this.#checkDepth(this.#extent(value).depth, tokens.length)
        this.#remove(source)
        this.#checkPlace(tokens)
        return this.#add(tokens, value)
      }
    }
  }

  #error(code: JsonPatchErrorCode): JsonPatchError {
    return new JsonPatchError(code, this.#operation, this.#path)
  }

  /** Whether there is a place to add at. */
  #checkPlace(tokens: readonly string[]): void {
    const last = tokens.length - 1
    if (last < 0) return
    const parent = this.#read(tokens, last)
    if (!isContainer(parent)) throw this.#error('path-missing')
    if (Array.isArray(parent) && tokens[last] !== '-') this.#index(tokens[last] as string, parent.length)
  }

  /** A value that came with the patch: its length was paid for, its depth adds to that of its place. */
  #checkNew(value: unknown, place: number): void {
    const { values, depth } = extentOf(value, this.#limits.jsonDepth)
    this.#checkDepth(depth, place)
    if (this.#values !== undefined) this.#values += values
  }

  #checkCopy(value: unknown, place: number): void {
    const { values, depth } = this.#extent(value)
    this.#checkDepth(depth, place)
    const most = this.#limits.documentValues
    // What was removed since the last count is still in it, so count again before saying no.
    if (this.#values === undefined || this.#values + values > most) this.#values = this.#extent(this.#root).values
    if (this.#values + values > most) throw this.#error('too-large')
    this.#values += values
  }

  #checkDepth(depth: number, place: number): void {
    if (depth > 0 && place + depth > this.#limits.jsonDepth) throw this.#error('too-deep')
  }

  #extent(value: unknown): { readonly values: number; readonly depth: number } {
    return extentOf(value, this.#limits.jsonDepth, this.#extents)
  }

  #readFrom(from: string): unknown {
    const path = this.#path
    this.#path = from
    const value = this.#read(tokensOf(from))
    this.#path = path
    return value
  }

  #read(tokens: readonly string[], end: number = tokens.length): unknown {
    let value = this.#root
    for (let depth = 0; depth < end; depth++) value = this.#member(value, tokens[depth] as string)
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
    this.#made.add(copy)
    return copy
  }

  /** What stands in two places may be edited in neither. Only what is owned can hold what is owned. */
  #disown(value: unknown): void {
    if (!isContainer(value) || !this.#owned.delete(value)) return
    for (const member of Object.values(value)) this.#disown(member)
  }

  #setRoot(value: unknown): void {
    const before = this.#root
    this.#root = value
    if (this.#mayFail) {
      this.#undo.push(() => {
        this.#root = before
      })
    }
  }

  #add(tokens: readonly string[], value: unknown): void {
    if (tokens.length === 0) return this.#setRoot(value)
    const parent = this.#ownParent(tokens)
    const token = tokens.at(-1) as string
    if (!Array.isArray(parent)) return this.#put(parent, token, value)
    const index = token === '-' ? parent.length : Number(token)
    parent.splice(index, 0, value)
    if (this.#mayFail) this.#undo.push(() => parent.splice(index, 1))
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
      if (this.#mayFail) this.#undo.push(() => parent.splice(index, 0, before))
    } else {
      if (this.#mayFail && !this.#orders.has(parent)) this.#orders.set(parent, Object.keys(parent))
      delete parent[token]
      if (this.#mayFail) this.#undo.push(() => define(parent, token, before))
    }
  }

  /** Sets a member of an owned container. */
  #put(parent: Container, token: string, value: unknown): void {
    if (this.#mayFail) {
      const had = Object.hasOwn(parent, token)
      const before = had ? (parent as Record<string, unknown>)[token] : undefined
      this.#undo.push(() => {
        if (had) define(parent, token, before)
        else delete (parent as Record<string, unknown>)[token]
      })
    }
    define(parent, token, value)
  }
}

/**
 * Applies a patch to an immutable value.
 * @param limits `jsonDepth` and `documentValues` apply.
 * @returns the patched value; it shares with the old one all that the patch did not touch.
 * @throws JsonPatchError if an operation does not apply (RFC 6902 §5: then none is applied).
 */
export function applyPatch(document: unknown, patch: JsonPatch, limits?: Partial<Limits>): unknown {
  const target = new PatchedDocument(document, limits)
  target.apply(patch)
  return target.value
}
