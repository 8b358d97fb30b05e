/** A list that is edited in place until somebody looks, and copied on the first edit after that. */
export class SharedList<Item> {
  #items: readonly Item[]
  /** As `#items`, if nobody else has seen it. */
  #own: Item[] | undefined

  /** @param items are not edited. */
  constructor(items: readonly Item[] = []) {
    this.#items = items
  }

  get length(): number {
    return this.#items.length
  }

  at(index: number): Item | undefined {
    return this.#items.at(index)
  }

  push(item: Item): void {
    this.#edit().push(item)
  }

  set(index: number, item: Item): void {
    this.#edit()[index] = item
  }

  /** Takes out the last item for which `test` holds, if there is one. */
  removeLast(test: (item: Item) => boolean): void {
    const index = this.#items.findLastIndex(test)
    if (index !== -1) this.#edit().splice(index, 1)
  }

  /** Makes these the items; the list given is not edited. An empty list stays the one it is. */
  replace(items: readonly Item[]): void {
    if (items.length === 0 && this.#items.length === 0) return
    this.#items = items
    this.#own = undefined
  }

  /** The items: an immutable list, the same one as before if nothing changed. */
  share(): readonly Item[] {
    this.#own = undefined
    return this.#items
  }

  #edit(): Item[] {
    this.#own ??= this.#items.slice()
    this.#items = this.#own
    return this.#own
  }
}
