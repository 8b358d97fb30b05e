/** Why a JSON Patch does not apply, as a code. */
import type { Limits } from '../limits.ts'

/** Why an operation does not apply. */
export type JsonPatchErrorCode =
  /** The path leads through something that is not there or has no members. */
  | 'path-missing'
  /** An array index that is no index, or out of range. */
  | 'bad-index'
  /** A `test` found another value. */
  | 'test-failed'
  /** `move` into the moved value itself. */
  | 'move-into-self'
  /** The document would nest deeper than `limits.jsonDepth`. */
  | 'too-deep'
  /** With this `copy` the document would hold more than `limits.documentValues`. */
  | 'too-large'

const BOUNDS: Readonly<Partial<Record<JsonPatchErrorCode, keyof Limits>>> = { 'too-deep': 'jsonDepth', 'too-large': 'documentValues' }

/** A patch that does not apply; the document is as before. */
export class JsonPatchError extends Error {
  override readonly name: string = 'JsonPatchError'
  readonly code: JsonPatchErrorCode
  /** Index of the operation in its patch. */
  readonly operation: number
  readonly path: string

  constructor(code: JsonPatchErrorCode, operation: number, path: string) {
    const bound = BOUNDS[code]
    super(`Operation ${operation} does not apply at "${path}": ${code}${bound === undefined ? '' : ` (limits.${bound})`}`)
    this.code = code
    this.operation = operation
    this.path = path
  }
}
