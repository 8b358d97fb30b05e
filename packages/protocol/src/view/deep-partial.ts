/** The type of a JSON value that is still coming. */

/**
 * What can be there of a JSON value while it streams, as `PartialJson` reads it: members may be missing, a list has those that
 * came, and a text may be a beginning of what it will be, so that one of a few words is any text.
 */
export type DeepPartial<Value> = Value extends string
  ? string
  : Value extends readonly unknown[]
    ? number extends Value['length']
      ? readonly DeepPartial<Value[number]>[]
      : { readonly [Key in keyof Value]?: DeepPartial<Value[Key]> }
    : Value extends object
      ? { readonly [Key in keyof Value]?: DeepPartial<Value[Key]> }
      : Value
