/** A list that is edited in place until somebody looks, and copied on the first edit after that. */
export class SharedList<Item> {
  #items: Item[] = []
  #shared = false

  get length(): number {
    return this.#items.length
  }

  at(index: number): Item | undefined {
    return this.#items.at(index)
  }

  /** Index of the last item for which `test` holds, or -1. */
  findLastIndex(test: (item: Item) => boolean): number {
    return this.#items.findLastIndex(test)
  }

  push(item: Item): void {
    this.#own().push(item)
  }

  set(index: number, item: Item): void {
    this.#own()[index] = item
  }

  remove(index: number): void {
    this.#own().splice(index, 1)
  }

  clear(): void {
    if (this.#items.length === 0) return
    this.#items = []
    this.#shared = false
  }

  /** Makes these the items; the list given is not edited. */
  replace(items: readonly Item[]): void {
    this.clear()
    if (items.length > 0) this.#items = items.slice()
  }

  /** The items: an immutable list, the same one as before if nothing changed. */
  share(): readonly Item[] {
    this.#shared = true
    return this.#items
  }

  #own(): Item[] {
    if (this.#shared) {
      this.#items = this.#items.slice()
      this.#shared = false
    }
    return this.#items
  }
}
