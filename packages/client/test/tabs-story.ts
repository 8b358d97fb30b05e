/** What was done in the tabs of a browser, as far as it matters for what is to be true in the end. */
import type { Run } from './model-runs.ts'
import type { Tab } from './model-tabs.ts'

export class TabsStory {
  /** What was said, and taken. */
  said: { readonly id: string; readonly text: string; readonly n: number }[] = []
  /** Why something was refused. */
  readonly codes: string[] = []
  /** Calls that the application gave answers for. */
  readonly given: string[] = []
  /** What was begun in a tab and has not settled; a page that is gone settles nothing any more. */
  readonly unsettled = new Set<{ readonly tab: Tab }>()
  /** What each tab does of its own: the send it works for, and whether it is more than text. */
  readonly work = new Map<Tab, { readonly n: number; readonly what: 'text' | 'more' }>()
  /** Runs after which something else was sent, or that were stopped: the agent does not go on with them. */
  readonly past = new Set<Run>()
  /** Those of them that nobody had read to their end then: what came of them later shows nowhere. */
  readonly lost = new Set<Run>()
  /** Runs that were stopped: what had come of them shows, or less. */
  readonly stopped = new Set<Run>()
  /** Runs that were there when all was cleared: nothing of them shows. */
  readonly cleared = new Set<Run>()
  /** A page went without a word: what it had not stored is lost. */
  crashed = false
  /** A tab said something before it showed what another did. */
  raced = false
  /** A page went that had tools to run, or answers to give: whoever comes next goes on with that. */
  orphaned = false
  readonly detached = new Set<Tab>()
  /** A page went: nobody may be left who tells the others of what it began. */
  gone = false
}
