/**
 * What the fold knows of a message or a call that AG-UI's messages have no field for: whether it is still being
 * streamed, where in its message's text a call began, and how its arguments came. Kept beside the objects, so that they
 * stay plain AG-UI.
 */

/** Follows the arguments of a call while they grow (`input-feed.ts`). */
export interface Feed {
  grow(delta: string, before: number): void
  read(text: string): { readonly value: unknown } | undefined
}

export interface Notes {
  /** Deltas may still come. */
  readonly open?: boolean
  /** Length of the message's text when the call started: text before it and after it surround the call. */
  readonly textOffset?: number
  /** Where who reads the arguments of a call that streams puts what follows them; the fold feeds it. */
  readonly input?: { feed?: Feed }
}

const notes = new WeakMap<object, Notes>()
const NONE: Notes = {}

export function notesOf(subject: object): Notes {
  return notes.get(subject) ?? NONE
}

export function setNotes(subject: object, value: Notes): void {
  notes.set(subject, value)
}
