/** First in, first out. It knows nothing of what waits in it. */
export class Fifo<Item> {
  /** Those before `#head` are gone. */
  #items: Item[] = []
  #head = 0

  get empty(): boolean {
    return this.#head === this.#items.length
  }

  /** What was added first of what is there. */
  get first(): Item | undefined {
    return this.#items[this.#head]
  }

  push(item: Item): void {
    this.#items.push(item)
  }

  /** Lets the first go. */
  shift(): void {
    if (this.empty) return
    this.#head++
    // Taking from the front of a long array moves all the rest; half at a time, each item is moved about once.
    if (this.#head * 2 < this.#items.length) return
    this.#items = this.#items.slice(this.#head)
    this.#head = 0
  }

  /** Lets go what is not `wanted`; the order stays. */
  keep(wanted: (item: Item) => boolean): void {
    this.#items = this.#items.slice(this.#head).filter(wanted)
    this.#head = 0
  }
}
