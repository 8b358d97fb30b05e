/** What a chat is doing, as one union. Everything that asks "is it busy" asks here. */
import type { ChatStatus } from './options.ts'
import type { Turn } from './turn.ts'

export type Phase =
  | { readonly kind: 'idle' }
  /** A turn was sent and has given no event. */
  | { readonly kind: 'submitted'; readonly turn: Turn }
  | { readonly kind: 'streaming'; readonly turn: Turn }
  /** The turn is over and called tools of ours, which run. */
  | { readonly kind: 'answering'; readonly turn: Turn }
  /** The last turn failed; the next one may begin. */
  | { readonly kind: 'failed'; readonly error: Error; readonly unsent: readonly string[] }

export const IDLE: Phase = { kind: 'idle' }

const STATUS = { idle: 'ready', submitted: 'submitted', streaming: 'streaming', answering: 'streaming', failed: 'error' } as const

export function statusOf(phase: Phase): ChatStatus {
  return STATUS[phase.kind]
}

/** The turn that runs, or whose calls are being answered. */
export function turnOf(phase: Phase): Turn | undefined {
  return 'turn' in phase ? phase.turn : undefined
}
