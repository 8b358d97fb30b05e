/** Shapes of STATE_* and of the JSON Patch (RFC 6902) that they and activities carry. */
import { json, list, object, owned, pointer, union, type ObjectShape, type Shape, type Shapes } from './shape.ts'

// Operations are open objects: RFC 6902 §4 says that members not defined there are ignored, not refused.
const sets: ObjectShape = object('op', { path: pointer, value: json }, true)
const moves: ObjectShape = object('op', { from: pointer, path: pointer }, true)

export const jsonPatch: Shape = list(
  union('op', { add: sets, replace: sets, test: sets, remove: object('op', { path: pointer }, true), move: moves, copy: moves }),
)

export const sharedState: Shapes<`STATE_${string}`> = {
  STATE_SNAPSHOT: owned('', { snapshot: json }),
  STATE_DELTA: owned('', { delta: jsonPatch }),
}
