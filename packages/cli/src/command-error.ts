// The one error a command throws when it could not do its work: told in a line, exit status 2, no stack trace.

/** What the user is told, and a hint at what to try. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError'
  readonly hint: string | undefined

  constructor(message: string, hint?: string, options?: ErrorOptions) {
    super(message, options)
    this.hint = hint
  }
}

/** The text of anything that was thrown; of a network failure the cause, which says more. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (cause instanceof AggregateError && cause.errors[0] instanceof Error) return cause.errors[0].message
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message
}
