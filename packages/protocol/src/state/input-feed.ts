/**
 * The arguments of one call while they come, parsed once however often they are read. It follows the text of the call and
 * knows no events. It is made by the first who reads, so that a fold that nobody reads from loads no parser.
 */
import type { ToolCall } from '../events/event.ts'
import { notesOf, type Feed } from './notes.ts'
import { PartialJson } from './partial-json.ts'

class InputFeed implements Feed {
  readonly #json = new PartialJson()
  /** Units of the arguments that were given to it. */
  #given = 0
  /** What came since and was not given to it; it begins at `#from`. */
  #rest = ''
  #from = 0

  /** Arguments grew by `delta`; `before` is the length they had. */
  grow(delta: string, before: number): void {
    if (this.#rest === '') this.#from = before
    this.#rest += delta
  }

  /**
   * The best reading of these arguments (see `partial-json.ts`), if they are what was read last or go on from it.
   * @param text the arguments as some snapshot has them; the fold may be further.
   */
  read(text: string): { readonly value: unknown } | undefined {
    if (text.length < this.#given) return undefined
    // `text` is joined from thousands of pieces, so it is looked into only for what is in no other place.
    const gap = this.#rest === '' ? text.length : Math.min(this.#from, text.length)
    if (gap > this.#given) this.#give(text.slice(this.#given, gap))
    const more = text.length - this.#given
    if (more > 0) {
      this.#give(this.#rest.slice(0, more))
      this.#rest = this.#rest.slice(more)
      this.#from = this.#given
    }
    return { value: this.#json.value }
  }

  #give(text: string): void {
    this.#json.append(text)
    this.#given += text.length
  }
}

/** The reading of the arguments of a call that a fold follows; undefined if none does, or it is further than this text. */
export function readStreamed(call: ToolCall, text: string): { readonly value: unknown } | undefined {
  const { input } = notesOf(call)
  return input && (input.feed ??= new InputFeed()).read(text)
}
