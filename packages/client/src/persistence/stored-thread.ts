/**
 * A thread as it is stored, and the checks on what comes back. It opens no storage and shows nothing. A stored value may be
 * anything: another program's, an older version's, cut off.
 */
import type { Interrupt, ToolMessage, UIMessage } from '@millrace/protocol'
import { isRecord } from '../checks.ts'
import { reviveMessages } from '../chat/history.ts'
import { questions, toolResults } from '../chat/hydration.ts'
import type { StoredMessage } from '../chat/options.ts'
import { runFrom, type StoredRun } from '../chat/told-runs.ts'
import { list, natural, record, text, texts } from '../shapes.ts'
import { StorageError } from './storage-error.ts'

/** Raised when a value of before could be read wrongly; then `STEPS` gets a row. */
export const STORED_VERSION = 1

export interface StoredContent {
  readonly messages: readonly StoredMessage[]
  readonly state: unknown
}

/** A run under way, and what is needed to read it again from its start. */
export interface StoredUnderway {
  readonly runId: string
  /** Events of it that `content` shows. */
  readonly seen: number
  /** The thread before the run; absent where the server has it. */
  readonly base?: StoredBase
}

export interface StoredBase extends StoredContent {
  /** How many of the first messages of `content` come before `messages`. */
  readonly kept: number
  readonly interrupts: readonly Interrupt[]
  readonly runs: readonly StoredRun[]
}

/** JSON but for dates, which become text. */
export interface StoredThread {
  readonly version: number
  readonly threadId: string
  /** Absent where the server has it. */
  readonly content?: StoredContent
  /** Open questions. */
  readonly interrupts: readonly Interrupt[]
  /** Those that matter for what comes next: the last one, and the one that asked the questions. */
  readonly runs: readonly StoredRun[]
  readonly run?: StoredUnderway
  /** Calls of our tools that were begun and gave nothing yet. */
  readonly begun?: readonly string[]
  /** What calls of ours that the last run left were answered, where the server has the content: it may not have been told. */
  readonly results?: readonly ToolMessage[]
  /** The last run was begun by others. */
  readonly foreign?: true
  /** How many saves of each tab are in it: one that is not was made at the same time. */
  readonly heard?: readonly Heard[]
}

/** A tab, and how often it had saved. */
export type Heard = readonly [tab: string, saves: number]

/** What was checked: dates are dates. */
export interface ReadContent extends StoredContent {
  readonly messages: readonly UIMessage[]
}

export interface ReadThread extends StoredThread {
  readonly content?: ReadContent
  readonly run?: StoredUnderway & { readonly base?: StoredBase & ReadContent }
}

/**
 * Steps to the next version, by the version they take. They are given the stored value as it is, and the id of the thread it
 * is read for.
 */
export type Migrations = Readonly<Record<number, (stored: unknown, threadId: string) => unknown>>

/** Version 0 has none in it: a list of UI messages, or an object with one, as applications store them by themselves. */
const STEPS: Migrations = {
  0: (stored, threadId) => {
    const { messages, state = {}, ...rest } = Array.isArray(stored) ? { messages: stored } : (stored as Record<string, unknown>)
    return { threadId, content: { messages, state }, interrupts: rest['interrupts'] ?? [], runs: [] }
  },
}

/**
 * A stored value, checked and brought to the present version; undefined if there is none.
 * @throws StorageError `corrupt`, `newer-version`.
 */
export function readStored(value: unknown, key: string, threadId: string, migrate: Migrations = {}): ReadThread | undefined {
  if (value === undefined || value === null) return undefined
  try {
    return threadFrom(migrated(value, key, threadId, { ...STEPS, ...migrate }))
  } catch (cause) {
    if (cause instanceof StorageError) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new StorageError(`What is stored as "${key}" is no thread: ${why}`, { code: 'corrupt', key, cause })
  }
}

function migrated(value: unknown, key: string, threadId: string, steps: Migrations): unknown {
  const given = isRecord(value) ? value['version'] : undefined
  let version = given === undefined ? 0 : natural(given, 'version')
  if (version > STORED_VERSION) {
    throw new StorageError(`What is stored as "${key}" has version ${version}; this program reads up to ${STORED_VERSION}.`, { code: 'newer-version', key })
  }
  let stored = value
  for (; version < STORED_VERSION; version++) {
    const step = Object.hasOwn(steps, version) ? steps[version] : undefined
    if (step === undefined) throw new Error(`there is no step from version ${version}`)
    stored = step(stored, threadId)
  }
  return stored
}

function threadFrom(value: unknown): ReadThread {
  const { threadId, content, interrupts, runs, run, begun, results, foreign, heard } = record(value, 'it')
  return {
    version: STORED_VERSION,
    threadId: text(threadId, 'threadId'),
    ...(content !== undefined && { content: contentFrom(content) }),
    interrupts: questions(interrupts),
    runs: list(runs, 'runs').map(runFrom),
    ...(run !== undefined && { run: underwayFrom(run) }),
    ...(begun !== undefined && { begun: texts(begun, 'begun') }),
    ...(results !== undefined && { results: toolResults(results) }),
    ...(foreign === true && { foreign }),
    ...(heard !== undefined && { heard: heardFrom(heard) }),
  }
}

function contentFrom(value: unknown): ReadContent {
  const { messages, state = {} } = record(value, 'content')
  return { messages: reviveMessages(messages as readonly StoredMessage[]), state }
}

function underwayFrom(value: unknown): NonNullable<ReadThread['run']> {
  const { runId, seen, base } = record(value, 'run')
  return { runId: text(runId, 'run.runId'), seen: natural(seen, 'run.seen'), ...(base !== undefined && { base: baseFrom(base) }) }
}

function baseFrom(value: unknown): StoredBase & ReadContent {
  const { kept, interrupts, runs } = record(value, 'run.base')
  return { ...contentFrom(value), kept: natural(kept, 'run.base.kept'), interrupts: questions(interrupts), runs: list(runs, 'run.base.runs').map(runFrom) }
}

/** What was stored, or told, of who has heard whom. Throws if it is nothing of the kind. */
export function heardFrom(value: unknown): Heard[] {
  return list(value, 'heard').map((each) => {
    const [tab, saves] = list(each, 'each of heard')
    return [text(tab, 'a tab of heard'), natural(saves, 'saves of a tab')]
  })
}
