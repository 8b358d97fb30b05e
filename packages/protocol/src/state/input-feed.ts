/**
 * The arguments of one call while they come, parsed once however often they are read, and not at all if nobody does. It
 * follows the text of the call and knows no events.
 */

/** What reads a growing text. It is given by who reads, so that a fold that nobody reads from loads no parser. */
export interface GrowingReader {
  append(text: string): void
  readonly value: unknown
}

export class InputFeed {
  /** Made for the first reader. */
  #json: GrowingReader | undefined
  /** Units of the arguments that were given to it. */
  #given = 0
  /** What came since and was not given to it; it begins at `#from`. Kept only once there is a reader. */
  #rest = ''
  #from = 0

  /** Arguments grew by `delta`; `before` is the length they had. */
  grow(delta: string, before: number): void {
    if (this.#json === undefined) return
    if (this.#rest === '') this.#from = before
    this.#rest += delta
  }

  /**
   * The best reading of these arguments (see `partial-json.ts`), if they are what was read last or go on from it.
   * @param text the arguments as some snapshot has them; the fold may be further.
   * @param make makes what reads them, the first time.
   */
  read(text: string, make: () => GrowingReader): { readonly value: unknown } | undefined {
    if (text.length < this.#given) return undefined
    const json = (this.#json ??= make())
    // `text` is joined from thousands of pieces, so it is looked into only for what is in no other place.
    const gap = this.#rest === '' ? text.length : Math.min(this.#from, text.length)
    if (gap > this.#given) this.#give(json, text.slice(this.#given, gap))
    const more = text.length - this.#given
    if (more > 0) {
      this.#give(json, this.#rest.slice(0, more))
      this.#rest = this.#rest.slice(more)
      this.#from = this.#given
    }
    return { value: json.value }
  }

  #give(json: GrowingReader, text: string): void {
    json.append(text)
    this.#given += text.length
  }
}
