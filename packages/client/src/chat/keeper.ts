/**
 * What keeps a chat over a reload and in step with other tabs, as far as a chat knows of it. Types only: what does it is
 * handed in, so that a chat which keeps nothing carries none of it.
 */
import type { Message, Thread, ThreadBuilder, ToolMessage, UIMessage } from '@millrace/protocol'
import type { LeftRun, ThreadBase } from './left-run.ts'

/** A chat, as what keeps it sees it. */
export interface KeptChat {
  threadId(): string | undefined
  nameThread(threadId: string): void
  readonly conversation: {
    readonly thread: Thread
    readonly messages: readonly UIMessage[]
    readonly builder: ThreadBuilder
    /** Messages of a thread, their dates noted. */
    adopt(messages: readonly UIMessage[]): Message[]
    branch(base: ThreadBase): ThreadBuilder
    show(builder: ThreadBuilder): void
    /** Takes over results for calls of a builder that have none. */
    bringResults(builder: ThreadBuilder, results: readonly Message[]): void
    reset(): void
  }
  readonly runner: {
    readonly busy: boolean
    /** The run that is being read, or was left: it may go on at the server. */
    readonly unfinished: LeftRun | undefined
    /** Calls of our tools that are being answered. */
    readonly begun: readonly string[]
    /** The last run was begun by others: its calls are not ours to run. */
    readonly foreign: boolean
    /** The thread was restored: this run was left, or these calls had been begun; undefined: its calls are not ours to run. */
    keep(left: LeftRun | undefined, begun: readonly string[] | undefined): void
    /** Ends what runs; false if nothing did. */
    halt(): boolean
    /** Puts messages before those that the run which is read began with. */
    goBehind(messages: readonly Message[]): void
    join(left: LeftRun): Promise<unknown>
  }
  /** As `ChatClient.attach`: asks the server for the thread, and reads the run that is under way there. */
  attach(): Promise<unknown>
  /** Whether the connection can tell a stored thread. */
  canHydrate(): boolean
  /** What is shown changed, or `Keeper.error` did. */
  onChange(): void
}

/** What is known here of the calls of ours that a run left: those that had been begun, and what others were answered. */
export interface Recalled {
  readonly begun: readonly string[]
  readonly results: readonly ToolMessage[]
}

/** Keeps one chat. None of it throws, and what fails is in `error`. */
export interface Keeper {
  /** `server`: the thread is the server's, which is asked for it. `client`: what was kept is the thread. */
  readonly mode: 'client' | 'server'
  /** What other tabs keep of the thread shows here. */
  readonly sharesStored: boolean
  /** Why the thread is not kept at present. */
  readonly error: Error | undefined
  /** Shows what was kept, once. A promise if it could not be done at once. */
  restore(): Promise<void> | undefined
  /** What the server told of the thread, with what it does not tell. */
  complete(base: ThreadBase): ThreadBase
  /** After a stop, what the server has was taken over. */
  caughtUp?(): void
  /** Something of the chat changed. */
  changed(): void
  /** Removes what was kept. */
  forget(): void
  /** Keeps what is not kept yet, and lets go of all it holds. It can be used again. */
  close(): void
  /** Whether the calls that this run left are ours to answer, and no other tab's. Absent: they are. */
  mayAnswerCalls?(runId: string): Promise<boolean>
  /** Of a thread that is the server's: results of calls that were kept. The server hears of them by the next request alone. */
  readonly results?: readonly Message[]
  /** Of a thread that is the server's: what is known of the calls that this run left; undefined: it was not one of ours. Absent: as that. */
  recall?(runId: string): Promise<Recalled | undefined>
  /**
   * Makes the answers to these questions ours to give. Absent: they are.
   * @throws UsageError (rejects) `answered-elsewhere`.
   */
  claimAnswers?(interruptIds: readonly string[]): Promise<void>
}

/** What `persisted()` gives for the option `persistence`. */
export type Persistence = (chat: KeptChat) => Keeper
