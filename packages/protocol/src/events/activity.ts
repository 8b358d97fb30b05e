/** Shapes of ACTIVITY_*. */
import { jsonPatch } from './shared-state.ts'
import { boolean, event, record, string, type ObjectShape } from './shape.ts'

export const ACTIVITY_SNAPSHOT: ObjectShape = event({
  messageId: string,
  activityType: string,
  content: record,
  'replace?': boolean,
})
export const ACTIVITY_DELTA: ObjectShape = event({ messageId: string, activityType: string, patch: jsonPatch })
