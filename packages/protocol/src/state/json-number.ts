/** The grammar of a JSON number (RFC 8259 §6) as a table: which unit may come next. It holds no text. */

/** Where a number stands; an index into the table. */
export const NUMBER_START = 0
const MINUS = 1
const ZERO = 2
const INTEGER = 3
const POINT = 4
const FRACTION = 5
const E = 6
const SIGN = 7
const EXPONENT = 8

interface Row {
  readonly zero?: number
  readonly digit?: number
  readonly point?: number
  readonly e?: number
  readonly plus?: number
  readonly minus?: number
  /** What came so far is a number. */
  readonly ends?: true
}

const TABLE: readonly Row[] = [
  { minus: MINUS, zero: ZERO, digit: INTEGER },
  { zero: ZERO, digit: INTEGER },
  { point: POINT, e: E, ends: true },
  { zero: INTEGER, digit: INTEGER, point: POINT, e: E, ends: true },
  { zero: FRACTION, digit: FRACTION },
  { zero: FRACTION, digit: FRACTION, e: E, ends: true },
  { plus: SIGN, minus: SIGN, zero: EXPONENT, digit: EXPONENT },
  { zero: EXPONENT, digit: EXPONENT },
  { zero: EXPONENT, digit: EXPONENT, ends: true },
]

/** Where a unit leads, or undefined if the number cannot go on with it. */
export function numberStep(from: number, unit: number): number | undefined {
  const row = TABLE[from] as Row
  if (unit > 0x30 && unit <= 0x39) return row.digit
  switch (unit) {
    case 0x30:
      return row.zero
    case 0x2e:
      return row.point
    case 0x65:
    case 0x45:
      return row.e
    case 0x2b:
      return row.plus
    case 0x2d:
      return row.minus
    default:
      return undefined
  }
}

/** Whether a number may end here. */
export function isNumberEnd(at: number): boolean {
  return (TABLE[at] as Row).ends ?? false
}
