/** Shapes of ACTIVITY_*. */
import { jsonPatch } from './shared-state.ts'
import { boolean, owned, record, type Shapes } from './shape.ts'

export const activity: Shapes<`ACTIVITY_${string}`> = {
  ACTIVITY_SNAPSHOT: owned('messageId activityType', { content: record, 'replace?': boolean }),
  ACTIVITY_DELTA: owned('messageId activityType', { patch: jsonPatch }),
}
