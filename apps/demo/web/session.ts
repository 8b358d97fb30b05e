/**
 * What this tab remembers of its conversation, so that a reload goes on with it and a new tab begins one. The messages
 * are the server's to keep.
 */
import type { Answered } from './parts/message.tsx'

export interface Session {
  readonly threadId?: string
  /** What was answered to questions; a thread tells only what came of it. */
  readonly answers: readonly Answered[]
}

const key = 'millrace-session'

export function readSession(): Session {
  try {
    return { answers: [], ...(JSON.parse(sessionStorage.getItem(key) ?? '') as Partial<Session>) }
  } catch {
    // Nothing there, or storage is forbidden: then a reload begins anew.
    return { answers: [] }
  }
}

export function writeSession(session: Session | undefined): void {
  try {
    if (session === undefined) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, JSON.stringify(session))
  } catch {
    // As above.
  }
}
