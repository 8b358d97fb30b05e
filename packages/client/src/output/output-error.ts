/** Why an answer that was to be a value is none. */

/** Which kind of failure; see {@link OutputError}. */
export type OutputErrorCode =
  /** The text of the answer is no JSON. */
  | 'not-json'
  /** It is JSON, and not what the schema takes; or the schema itself threw, which is then the `cause`. */
  | 'unfit'
  /** The run ended before the answer was whole. */
  | 'cut-short'

/** The agent answered, and not by a value that fits the schema. The send itself did not fail by it. */
export class OutputError extends Error {
  override readonly name: string = 'OutputError'
  readonly code: OutputErrorCode
  /** The message that was to be the value. */
  readonly messageId: string
  /** Its text as far as it came. */
  readonly raw: string

  constructor(message: string, data: { readonly code: OutputErrorCode; readonly messageId: string; readonly raw: string; readonly cause?: unknown }) {
    super(message, data.cause === undefined ? undefined : { cause: data.cause })
    this.code = data.code
    this.messageId = data.messageId
    this.raw = data.raw
  }
}
