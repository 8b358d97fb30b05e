/** Who is measured, under the names of the tables. A process loads only the one it plays: peers are large, and memory is measured. */
import type { Connect } from './connection.ts'
import type { Outcome, Prepare } from './contender.ts'

export interface Contender {
  load(): Promise<Prepare>
  /** The same over a real connection; absent if it has none. */
  connect?(): Promise<Connect>
  /** Parts of the answer that it does not give. */
  readonly lacks?: readonly (keyof Outcome)[]
  /** What one has to know to read its figures. */
  readonly note?: string
}

export type ContenderName = 'floor' | 'millrace' | 'ag-ui verify' | 'ag-ui apply' | 'ag-ui run' | 'tanstack' | 'ai'

export const CONTENDERS: Readonly<Record<ContenderName, Contender>> = {
  floor: {
    load: async () => (await import('./floor.ts')).floor,
    connect: async () => (await import('./connections/floor.ts')).floorConnection,
    note: 'decode, `JSON.parse`, append or patch in place: no checks, no snapshots, no way back',
  },
  millrace: {
    load: async () => (await import('./millrace.ts')).millrace,
    connect: async () => (await import('./connections/millrace.ts')).millraceConnection,
    note: '`ThreadReader`; `readThread` where a Response is read; `SubscribedThread` where there are subscribers; `ChatClient` over HTTP',
  },
  'ag-ui verify': {
    load: async () => (await import('./ag-ui.ts')).agUiVerify,
    note: '`verifyEvents` of `@ag-ui/client` alone, before the fold of the floor',
  },
  'ag-ui apply': {
    load: async () => (await import('./ag-ui.ts')).agUiApply,
    note: '`defaultApplyEvents` of `@ag-ui/client` alone: a snapshot after every event',
  },
  'ag-ui run': {
    load: async () => (await import('./ag-ui.ts')).agUiRun,
    connect: async () => (await import('./connections/ag-ui.ts')).agUiConnection,
    note: '`runAgent` of `@ag-ui/client`: chunks, rules, schemas and fold; an `HttpAgent` where a Response is read, and over HTTP',
  },
  tanstack: {
    load: async () => (await import('./tanstack.ts')).tanstack,
    connect: async () => (await import('./connections/tanstack.ts')).tanstackConnection,
    lacks: ['state'],
    note:
      '`StreamProcessor` of `@tanstack/ai`, behind `fetchServerSentEvents` where a Response is read; `ChatClient` over HTTP: checks no order, knows no shared state; ' +
      'reads arguments and makes a snapshot at every event, asked or not',
  },
  ai: {
    load: async () => (await import('./ai-sdk.ts')).aiSdk,
    connect: async () => (await import('./connections/ai-sdk.ts')).aiSdkConnection,
    lacks: ['state'],
    note:
      '`readUIMessageStream` of `ai`, behind `DefaultChatTransport` where a Response is read; `AbstractChat` over HTTP: gets chunks of its own protocol, knows no shared ' +
      'state; reads arguments and makes a snapshot of its one message at every event; the caller keeps the others',
  },
}
