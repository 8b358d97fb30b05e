/** The shape of each of the 31 events, by type. */
import { activity } from './activity.ts'
import { custom } from './custom.ts'
import type { EventType } from './event.ts'
import { messages } from './messages.ts'
import { reasoning } from './reasoning.ts'
import { run } from './run.ts'
import { union, type Shapes, type UnionShape } from './shape.ts'
import { sharedState } from './shared-state.ts'
import { step } from './step.ts'
import { subagent } from './subagent.ts'
import { text } from './text.ts'
import { toolCall } from './tool-call.ts'

const shapes: Shapes<EventType> = {
  ...run,
  ...step,
  ...text,
  ...toolCall,
  ...sharedState,
  ...messages,
  ...activity,
  ...reasoning,
  ...subagent,
  ...custom,
}

/** Any event, told apart by `type`. */
export const anyEvent: UnionShape = union('type', shapes)
