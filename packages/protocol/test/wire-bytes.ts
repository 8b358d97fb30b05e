/** Protobuf written by hand, for tests of what no encoder would write: each function gives the bytes of one field. */

export type Bytes = readonly number[]

export function varint(value: number | bigint): Bytes {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return [...bytes, Number(rest)]
}

export const int = (no: number, value: number | bigint): Bytes => [...varint(no << 3), ...varint(value)]
export const len = (no: number, ...body: readonly Bytes[]): Bytes => {
  const bytes = body.flat()
  return [...varint((no << 3) | 2), ...varint(bytes.length), ...bytes]
}
export const str = (no: number, text: string): Bytes => len(no, [...new TextEncoder().encode(text)])
export const double = (no: number, value: number): Bytes => [...varint((no << 3) | 1), ...new Uint8Array(new Float64Array([value]).buffer)]
export const fixed32 = (no: number): Bytes => [...varint((no << 3) | 5), 1, 2, 3, 4]
export const group = (no: number, ...body: readonly Bytes[]): Bytes => [...varint((no << 3) | 3), ...body.flat(), ...varint((no << 3) | 4)]

/** The base that says which type an event is. */
export const base = (type: number, ...fields: readonly Bytes[]): Bytes => len(1, type === 0 ? [] : int(1, type), ...fields)
/** STATE_SNAPSHOT whose Value has these arms. */
export const snapshot = (...value: readonly Bytes[]): Bytes => len(7, base(6), len(2, ...value))
/** MESSAGES_SNAPSHOT with one message of these fields. */
export const oneMessage = (...fields: readonly Bytes[]): Bytes => len(9, base(8), len(2, ...fields))
/** One entry of a Struct. */
export const entry = (key: string, ...value: readonly Bytes[]): Bytes => len(1, str(1, key), len(2, ...value))

export const bytesOf = (...fields: readonly Bytes[]): Uint8Array => Uint8Array.from(fields.flat())
