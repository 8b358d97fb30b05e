/** Numbers and words that look random and are the same in every run. */

const WORDS = 'the current turns a wheel of oak and iron while water runs below it '.split(/(?<= )/)

/** A linear congruence (Numerical Recipes): gives whole numbers from `least` to `most`. */
export function numbersFrom(seed: number): (least: number, most: number) => number {
  let state = seed >>> 0
  return (least, most) => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0
    // The low bits have short periods.
    return least + Math.floor((state / 2 ** 32) * (most - least + 1))
  }
}

/** The word at a place of an endless text. */
export function word(index: number): string {
  return WORDS[(index * 7) % WORDS.length] as string
}

/** So many words of that text. */
export function words(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, index) => word(from + index))
}
