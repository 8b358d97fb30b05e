/** What a chat is asked by the agent, and what is answered. Types only; what they are for given tools is in `tools/tool-types.ts`. */
import type { Metadata } from '@millrace/protocol'

/** A call that waits for the application. */
export interface OpenToolCall<Name extends string = string, Input = unknown> {
  readonly toolCallId: string
  readonly toolName: Name
  /** The arguments as the model gave them, which nobody has checked; undefined if they are not JSON. */
  readonly input: Input
}

/** What the application found, or why there is nothing: one of both. `toolName`, if given, has to be that of the call. */
export type ToolResultInput =
  | { readonly toolCallId: string; readonly toolName?: string | undefined; readonly output: unknown; readonly error?: undefined }
  | { readonly toolCallId: string; readonly toolName?: string | undefined; readonly error: string; readonly output?: undefined }

/** The answer to an interrupt. */
export interface InterruptAnswer {
  readonly status: 'resolved' | 'cancelled'
  readonly payload?: unknown
  readonly metadata?: Metadata
}
