/** The shape of each of the 31 events, by type. */
import * as activity from './activity.ts'
import * as custom from './custom.ts'
import type { EventType } from './event.ts'
import { MESSAGES_SNAPSHOT } from './messages.ts'
import * as reasoning from './reasoning.ts'
import { RUN_ERROR, RUN_FINISHED, RUN_STARTED } from './run.ts'
import type { ObjectShape, UnionShape } from './shape.ts'
import { union } from './shape.ts'
import { STATE_DELTA, STATE_SNAPSHOT } from './shared-state.ts'
import * as step from './step.ts'
import * as subagent from './subagent.ts'
import * as text from './text.ts'
import * as toolCall from './tool-call.ts'

const shapes: Record<EventType, ObjectShape> = {
  RUN_STARTED,
  RUN_FINISHED,
  RUN_ERROR,
  ...step,
  ...text,
  ...toolCall,
  STATE_SNAPSHOT,
  STATE_DELTA,
  MESSAGES_SNAPSHOT,
  ...activity,
  ...reasoning,
  ...subagent,
  ...custom,
}

/** Any event, told apart by `type`. */
export const anyEvent: UnionShape = union('type', shapes)
