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

/**
 * The text of anything that was thrown, and of what lies at its bottom, unless it says that already: `fetch` says no
 * more than that it failed, and why is two causes further down.
 */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const root = rootOf(error)
  const why = root.message === '' ? codeOf(root) : root.message
  if (error.message === '' || error.message === 'fetch failed') return why || error.message
  return why === '' || error.message.includes(why) ? error.message : `${error.message} (${why})`
}

/** Deeper than any honest chain of causes; one that bites its tail ends here. */
const DEPTH = 8

function rootOf(error: Error): Error {
  let root = error
  for (let depth = 0; depth < DEPTH; depth++) {
    // Several addresses were tried; the first tells enough.
    const next: unknown = root instanceof AggregateError ? root.errors[0] : root.cause
    if (!(next instanceof Error)) break
    root = next
  }
  return root
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
