/** The table of the fold: which function shows which event. Complete by its type: a new event does not compile. */
import type { Reporter } from '../diagnostics.ts'
import type { VerifiedEvent } from '../events/event.ts'
import * as activity from './activity.ts'
import type { Draft } from './draft.ts'
import * as messages from './messages.ts'
import * as reasoning from './reasoning.ts'
import * as run from './run.ts'
import * as sharedState from './shared-state.ts'
import * as step from './step.ts'
import * as subagent from './subagent.ts'
import * as text from './text.ts'
import * as toolCall from './tool-call.ts'

type Folder<Event> = (draft: Draft, event: Event, reporter: Reporter) => void

/** Shown to subscribers, without effect on the thread. */
const nothing = (): void => {}

export const FOLD: { readonly [Type in VerifiedEvent['type']]: Folder<Extract<VerifiedEvent, { type: Type }>> } = {
  RUN_STARTED: run.started,
  RUN_FINISHED: run.finished,
  RUN_ERROR: run.failed,
  STEP_STARTED: step.started,
  STEP_FINISHED: step.finished,
  TEXT_MESSAGE_START: text.start,
  TEXT_MESSAGE_CONTENT: text.content,
  TEXT_MESSAGE_END: text.end,
  TOOL_CALL_START: toolCall.start,
  TOOL_CALL_ARGS: toolCall.args,
  TOOL_CALL_END: toolCall.end,
  TOOL_CALL_RESULT: toolCall.result,
  STATE_SNAPSHOT: sharedState.snapshot,
  STATE_DELTA: sharedState.delta,
  MESSAGES_SNAPSHOT: messages.snapshot,
  ACTIVITY_SNAPSHOT: activity.snapshot,
  ACTIVITY_DELTA: activity.delta,
  REASONING_START: nothing,
  REASONING_END: nothing,
  REASONING_MESSAGE_START: reasoning.start,
  REASONING_MESSAGE_CONTENT: reasoning.content,
  REASONING_MESSAGE_END: reasoning.end,
  REASONING_ENCRYPTED_VALUE: reasoning.encryptedValue,
  SUBAGENT_STARTED: subagent.started,
  SUBAGENT_FINISHED: subagent.finished,
  SUBAGENT_ERROR: subagent.failed,
  RAW: nothing,
  CUSTOM: nothing,
}
