/**
 * JSON Patch (RFC 6902) over immutable values: atomic, and sharing every branch that a patch does not touch. Paths
 * are RFC 6901. Members are own properties only; a key like `__proto__` is data and never reaches a prototype. What a
 * patch may make of a document is bounded.
 */
import type { JsonPatch, JsonPatchOperation } from '../events/event.ts'
import { withDefaults, type Limits } from '../limits.ts'
import { extentOf, type Extent, type Extents } from './extent.ts'
import { JsonPatchError, type JsonPatchErrorCode } from './json-patch-error.ts'
import { define, isContainer, jsonEqual, reorder, type Container } from '../json-value.ts'

/** The reference tokens of a pointer that is known to be well formed; the first is empty and stands for the document. */
function tokensOf(path: string): [string, ...string[]] {
  const tokens = path.split('/') as [string, ...string[]]
  return path.includes('~') ? (tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~')) as typeof tokens) : tokens
}

const INDEX = /^(?:0|[1-9][0-9]*)$/

/**
 * A document under patches. Between two readings of `value` a container is copied at most once, however many patches
 * edit it: what nobody has seen is edited in place.
 */
export class PatchedDocument {
  /** What holds the document, so that the whole of it is a member like any other. */
  readonly #top: { '': unknown }
  /** Containers made since `value` was read last: nobody else holds them. */
  readonly #owned = new Set<object>()
  /** As `#owned`, with those that a copy took from us: a patch that fails may still undo what it did to them. */
  readonly #made = new Set<object>()
  readonly #limits: Limits
  readonly #extents: Extents = { known: new WeakMap(), changing: this.#made }
  /** How many values there are at most; NaN until a `copy` asks. */
  #values = Number.NaN
  readonly #undo: (() => void)[] = []
  /** Objects that lost a member in the patch in hand, and the order they had: put back, a member would come last. */
  readonly #orders = new Map<Record<string, unknown>, string[]>()
  /** Something of the patch may fail yet, so what is done is noted to be undone. */
  #mayFail = false
  #operation = 0
  #path = ''

  /** @param limits `jsonDepth` and `documentValues` apply. */
  constructor(value: unknown, limits?: Partial<Limits>) {
    this.#top = { '': value }
    this.#limits = withDefaults(limits)
  }

  /** The document. From here on it is shared and will not change. */
  get value(): unknown {
    this.#owned.clear()
    this.#made.clear()
    return this.#top['']
  }

  set value(value: unknown) {
    this.#owned.clear()
    this.#made.clear()
    this.#values = Number.NaN
    this.#top[''] = value
  }

  /**
   * Applies all operations, or none.
   * @throws JsonPatchError with the operation and path that do not apply.
   */
  apply(patch: JsonPatch): void {
    try {
      patch.forEach((operation, index) => {
        this.#operation = index
        // An operation is checked before it changes anything, but for a move, which is two.
        this.#mayFail = index < patch.length - 1 || operation.op === 'move'
        this.#apply(operation)
      })
    } catch (error) {
      for (const undo of this.#undo.reverse()) undo()
      for (const [object, order] of this.#orders) reorder(object, order)
      throw error
    } finally {
      this.#undo.length = 0
      this.#orders.clear()
    }
  }

  #apply(operation: JsonPatchOperation): void {
    const { path } = operation
    const tokens = tokensOf(path)
    const depth = tokens.length - 1
    switch (operation.op) {
      case 'add':
        this.#checkPlace(path, tokens)
        this.#charge(operation.value, depth)
        return this.#add(tokens, operation.value)
      case 'replace':
        this.#read(path, tokens)
        this.#charge(operation.value, depth)
        return this.#put(this.#ownParent(tokens), tokens[depth] as string, operation.value)
      case 'remove':
        this.#read(path, tokens)
        return this.#remove(tokens)
      case 'test':
        if (!jsonEqual(this.#read(path, tokens), operation.value)) throw this.#error('test-failed')
        return
      case 'copy': {
        const value = this.#read(operation.from)
        this.#checkPlace(path, tokens)
        this.#charge(value, depth, this.#extents)
        this.#disown(value)
        return this.#add(tokens, value)
      }
      case 'move': {
        const { from } = operation
        const source = tokensOf(from)
        const value = this.#read(from, source)
        if (from === path) return
        this.#path = path
        if (path.startsWith(`${from}/`)) throw this.#error('move-into-self')
        if (tokens.length > source.length) this.#checkDepth(extentOf(value, this.#limits.jsonDepth, this.#extents), depth)
        this.#remove(source)
        this.#checkPlace(path, tokens)
        return this.#add(tokens, value)
      }
    }
  }

  #error(code: JsonPatchErrorCode): JsonPatchError {
    return new JsonPatchError(code, this.#operation, this.#path)
  }

  /** Whether there is a place to add at. */
  #checkPlace(path: string, tokens: readonly string[]): void {
    const last = tokens.length - 1
    const parent = last === 0 ? this.#top : this.#read(path, tokens, last)
    if (!isContainer(parent)) throw this.#error('path-missing')
    if (Array.isArray(parent) && tokens[last] !== '-') this.#index(tokens[last] as string, parent.length)
  }

  /**
   * Whether there is room for a value. One that came with the patch was paid for by its length, and only its depth is
   * checked; a copy (with `extents`) is counted.
   */
  #charge(value: unknown, place: number, extents?: Extents): void {
    const { jsonDepth, documentValues } = this.#limits
    const extent = extentOf(value, jsonDepth, extents)
    this.#checkDepth(extent, place)
    if (extents !== undefined && !(this.#values + extent.values <= documentValues)) {
      // What was removed since the last count is still in it, so count again before saying no.
      this.#values = extentOf(this.#top[''], jsonDepth, extents).values
      if (this.#values + extent.values > documentValues) throw this.#error('too-large')
    }
    this.#values += extent.values
  }

  #checkDepth({ depth }: Extent, place: number): void {
    if (depth > 0 && place + depth > this.#limits.jsonDepth) throw this.#error('too-deep')
  }

  #read(path: string, tokens: readonly string[] = tokensOf(path), end: number = tokens.length): unknown {
    this.#path = path
    let value: unknown = this.#top
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
    let parent: Container = this.#top
    for (const token of tokens.slice(0, -1)) {
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

  #add(tokens: readonly string[], value: unknown): void {
    const parent = this.#ownParent(tokens)
    const token = tokens.at(-1) as string
    if (!Array.isArray(parent)) return this.#put(parent, token, value)
    const index = token === '-' ? parent.length : Number(token)
    parent.splice(index, 0, value)
    this.#done(() => parent.splice(index, 1))
  }

  #remove(tokens: readonly string[]): void {
    const parent = this.#ownParent(tokens)
    const token = tokens.at(-1) as string
    if (parent === this.#top) return this.#put(parent, token, null)
    const before = this.#member(parent, token)
    if (Array.isArray(parent)) {
      const index = Number(token)
      parent.splice(index, 1)
      this.#done(() => parent.splice(index, 0, before))
    } else {
      if (this.#mayFail && !this.#orders.has(parent)) this.#orders.set(parent, Object.keys(parent))
      delete parent[token]
      this.#done(() => define(parent, token, before))
    }
  }

  /** Sets a member of an owned container. */
  #put(parent: Container, token: string, value: unknown): void {
    const had = Object.hasOwn(parent, token)
    const before = had ? (parent as Record<string, unknown>)[token] : undefined
    define(parent, token, value)
    this.#done(() => {
      if (had) define(parent, token, before)
      else delete (parent as Record<string, unknown>)[token]
    })
  }

  #done(undo: () => void): void {
    if (this.#mayFail) this.#undo.push(undo)
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
