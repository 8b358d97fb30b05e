/**
 * A JSON value that grows at its end: containers open, members come, containers close. Between two looks it is edited in
 * place; what somebody has seen is never changed. It knows no text.
 */
import { define, type Container } from '../json-value.ts'

interface Frame {
  container: Container
  /** Key of the member in hand; a list's member in hand is its last. */
  key: string
}

export class GrowingValue {
  #root: unknown = undefined
  /** Open containers, outermost first. */
  readonly #frames: Frame[] = []
  /** Nobody has seen the open containers as they are: all of them may be edited in place. */
  #unseen = true

  /** The value as it stands: immutable, the same one as before if nothing came. */
  get value(): unknown {
    this.#unseen = false
    return this.#root
  }

  /** How many containers are open. */
  get depth(): number {
    return this.#frames.length
  }

  /** What the next member goes into. */
  get inside(): 'list' | 'object' | undefined {
    const top = this.#frames.at(-1)
    return top === undefined ? undefined : Array.isArray(top.container) ? 'list' : 'object'
  }

  /** The key of the next member of the open object. */
  nextKey(key: string): void {
    ;(this.#frames.at(-1) as Frame).key = key
  }

  /** Enters a value as the next member, or as the value itself; `again` if it replaces the one entered last. */
  enter(value: unknown, again = false): void {
    const top = this.#frames.at(-1)
    if (top === undefined) {
      this.#root = value
      return
    }
    if (!this.#unseen) this.#copyOpen()
    const { container, key } = top
    if (!Array.isArray(container)) define(container, key, value)
    else if (again) container[container.length - 1] = value
    else container.push(value)
  }

  /** Enters an empty container; what comes goes into it until it closes. */
  open(container: Container): void {
    this.enter(container)
    this.#unseen = true
    this.#frames.push({ container, key: '' })
  }

  close(): void {
    this.#frames.pop()
  }

  /** Replaces the open containers, which somebody has seen, by copies. */
  #copyOpen(): void {
    let parent: Frame | undefined
    for (const frame of this.#frames) {
      const { container } = frame
      const copy = Array.isArray(container) ? container.slice() : { ...container }
      frame.container = copy
      if (parent === undefined) this.#root = copy
      else if (Array.isArray(parent.container)) parent.container[parent.container.length - 1] = copy
      else define(parent.container, parent.key, copy)
      parent = frame
    }
    this.#unseen = true
  }
}
