/** What can be done to a modelled chat, in random order. */
import fc from 'fast-check'
import type { WhenBusy } from '@millrace/client'
import type { ModelOptions } from './chat-model.ts'
import type { Kind } from './model-runs.ts'
import type { Cut, Ids, Treatment } from './model-server.ts'

/** What a sequence is played with. */
export interface PlayOptions extends ModelOptions {
  readonly ids: Ids
}

const plain = ['stop', 'clear', 'finish-tools', 'set-state', 'retry'] as const

export type Command =
  | { readonly do: 'send'; readonly kinds: readonly Kind[]; readonly whenBusy: WhenBusy | undefined; readonly taken: boolean }
  | { readonly do: 'edit' | 'append'; readonly kinds: readonly Kind[]; readonly nth: number; readonly keeps: boolean }
  | { readonly do: 'answer' | 'respond' | 'approve' | 'resume'; readonly kinds: readonly Kind[]; readonly nth: number; readonly status: 'resolved' | 'cancelled' }
  | { readonly do: 'reload'; readonly kinds: readonly Kind[] }
  | { readonly do: 'release' | 'set-messages' | 'cancel-queued'; readonly n: number }
  | { readonly do: 'wait'; readonly ms: number }
  | ({ readonly do: 'cut' } & { readonly cut: Cut })
  | { readonly do: 'trouble'; readonly treatments: readonly Treatment[] }
  | { readonly do: 'detach' | 'attach' | (typeof plain)[number] }

const kind = fc.constantFrom<Kind>('text', 'text', 'asks', 'asks-two', 'auto', 'slow', 'auto-and-asks', 'slow-and-asks', 'question', 'questions', 'questions', 'approval', 'approval', 'fails', 'state')
const kinds = fc.oneof(
  { weight: 6, arbitrary: fc.array(kind, { minLength: 1, maxLength: 3 }) },
  // Long enough to be too many.
  { weight: 1, arbitrary: fc.constant<readonly Kind[]>(['auto', 'auto', 'text']) },
)
const policy = fc.constantFrom<WhenBusy>('refuse', 'queue', 'queue', 'drop', 'interrupt')
const nth = fc.nat(3)
const cut: fc.Arbitrary<Cut> = fc.record({ how: fc.constantFrom('broken' as const, 'ended' as const), rest: fc.constantFrom('none' as const, 'half' as const, 'whole' as const) })
const treatment: fc.Arbitrary<Treatment> = fc.oneof(
  fc.record({ how: fc.constant('busy' as const), retryAfter: fc.constantFrom(0, 1) }),
  fc.constantFrom<Treatment>({ how: 'busy' }, { how: 'lost' }, { how: 'gone' }, { how: 'unheard' }),
  { weight: 2, arbitrary: fc.record({ how: fc.constant('again' as const), early: fc.nat(9), back: fc.nat(9) }) },
)
export const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('send' as const), kinds, whenBusy: fc.option(policy, { nil: undefined }), taken: fc.nat(9).map((n) => n === 0) }) },
  { weight: 7, arbitrary: fc.record({ do: fc.constant('release' as const), n: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('edit' as const, 'append' as const), kinds, nth, keeps: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('answer' as const, 'answer' as const, 'respond' as const, 'respond' as const, 'approve' as const, 'resume' as const),
      kinds,
      nth: fc.nat(1),
      status: fc.constantFrom('resolved' as const, 'resolved' as const, 'cancelled' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reload' as const), kinds }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('set-messages' as const, 'cancel-queued' as const), n: fc.nat(5) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('cut' as const), cut }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(40, 120, 120, 400, 2_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('trouble' as const), treatments: fc.array(treatment, { minLength: 1, maxLength: 5 }) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom(...plain) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('detach' as const, 'attach' as const, 'attach' as const) }) },
)
export const options: fc.Arbitrary<PlayOptions> = fc.record({
  whenBusy: policy,
  drain: fc.constantFrom('fifo' as const, 'batch' as const),
  maxSize: fc.nat(2),
  onOverflow: fc.constantFrom('refuse' as const, 'drop-oldest' as const),
  maxContinuations: fc.constantFrom(1, 25),
  resumes: fc.constantFrom(true, true, false),
  ids: fc.constantFrom('each' as const, 'some' as const, 'none' as const),
})
