/** What can be done in the tabs of a modelled browser, in random order. */
import fc from 'fast-check'
import type { Kind } from './model-runs.ts'
import type { Agreement, Mode } from './model-tabs.ts'

export type Command =
  | { readonly do: 'send'; readonly tab: number; readonly kinds: readonly Kind[] }
  | { readonly do: 'respond' | 'answer' | 'close' | 'crash' | 'freeze' | 'come-back' | 'detach' | 'attach' | 'stop' | 'clear'; readonly tab: number }
  | { readonly do: 'release' | 'wait' | 'turns'; readonly n: number }
  | { readonly do: 'open' | 'finish-tools' | 'cut' }

const KINDS: readonly Kind[] = ['text', 'text', 'text', 'asks', 'auto', 'slow', 'question']
/** A server hears of answers when it is gone on with, and a tab that asks it has no others. */
const kindOf = (mode: Mode): fc.Arbitrary<Kind> => fc.constantFrom<Kind>(...KINDS, ...(mode === 'client' ? ['auto-and-asks' as const] : []))
const tab = fc.nat(2)
export const command = (agreement: Agreement, mode: Mode): fc.Arbitrary<Command> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('send' as const), tab, kinds: fc.array(kindOf(mode), { minLength: 1, maxLength: 2 }) }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('release' as const), n: fc.integer({ min: 1, max: 8 }) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), n: fc.constantFrom(50, 150, 600) }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('turns' as const), n: fc.integer({ min: 1, max: 6 }) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('respond' as const, 'answer' as const), tab }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('close' as const, 'crash' as const, 'detach' as const, 'attach' as const), tab }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('stop' as const, 'stop' as const, 'stop' as const, 'clear' as const), tab }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('cut' as const) }) },
    // Where there are no locks, a tab that is frozen cannot object, and is taken for gone.
    ...(agreement === 'locks' ? [{ weight: 2, arbitrary: fc.record({ do: fc.constantFrom('freeze' as const, 'come-back' as const), tab }) }] : []),
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('open' as const, 'open' as const, 'finish-tools' as const) }) },
  )
