/** Shapes of STATE_* and of the JSON Patch (RFC 6902) that they and activities carry. */
import { event, json, list, object, pointer, string, union, type ObjectShape, type Shape } from './shape.ts'

// Operations are open objects: RFC 6902 §4 says that members not defined there are ignored, not refused.
export const jsonPatch: Shape = list(
  union('op', {
    add: object({ op: string, path: pointer, value: json }, true),
    replace: object({ op: string, path: pointer, value: json }, true),
    test: object({ op: string, path: pointer, value: json }, true),
    remove: object({ op: string, path: pointer }, true),
    move: object({ op: string, from: pointer, path: pointer }, true),
    copy: object({ op: string, from: pointer, path: pointer }, true),
  }),
)

export const STATE_SNAPSHOT: ObjectShape = event({ snapshot: json })
export const STATE_DELTA: ObjectShape = event({ delta: jsonPatch })
