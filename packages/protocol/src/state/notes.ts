/**
 * What the fold knows of a message or a call that AG-UI's messages have no field for: whether it is still being
 * streamed, and where in its message's text a call began. Kept beside the objects, so that they stay plain AG-UI.
 */

export interface Notes {
  /** Deltas may still come. */
  readonly open?: boolean
  /** Length of the message's text when the call started: text before it and after it surround the call. */
  readonly textOffset?: number
}

const notes = new WeakMap<object, Notes>()
const NONE: Notes = {}

export function notesOf(subject: object): Notes {
  return notes.get(subject) ?? NONE
}

export function setNotes(subject: object, value: Notes): void {
  notes.set(subject, value)
}
