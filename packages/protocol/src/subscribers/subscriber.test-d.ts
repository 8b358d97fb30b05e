/** Subscribers have the hooks that those of the AG-UI client have, no more and no fewer; what those are given is here, too. */
import type { AgentSubscriber } from '@ag-ui/client'
import type { Subscriber } from '../index.ts'

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
const names: Same<keyof AgentSubscriber, keyof Subscriber> = true

/** Names of what a hook is given, in any of the forms it may have. */
type Given<Hook> = NonNullable<Hook> extends (params: infer Params) => unknown ? (Params extends unknown ? keyof Params : never) : never
/** What the client gives a hook and we do not; `agent` and `input` are its own. */
type Missing = {
  [Name in keyof Subscriber]-?: Exclude<Given<AgentSubscriber[Name]>, Given<Subscriber[Name]> | 'agent' | 'input'>
}[keyof Subscriber]
const given: Given<AgentSubscriber['onRunFinishedEvent']> = 'pendingToolCallIds'
const nothing: Same<Missing, never> = true

export type Checked = [typeof names, typeof given, typeof nothing]

export const begins: Subscriber = {
  // @ts-expect-error a run that begins cannot be stopped
  onRunInitialized: () => ({ stopPropagation: true }),
}
export const fails: Subscriber = { onRunFailed: ({ error }) => ({ stopPropagation: error.name === 'AbortError' }) }
export const chunks: Subscriber = {
  // @ts-expect-error chunks are expanded before hooks see them
  onTextMessageChunkEvent: () => {},
}
