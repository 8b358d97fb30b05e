/**
 * Counts the macrotasks that a program asks for: `setTimeout`, `setImmediate` and messages to a `MessagePort`. Whoever took these
 * from `node:timers`, as parts of the platform do, is not counted.
 */
export interface MacrotaskCount {
  readonly count: number
  /** Puts back what was there. */
  restore(): void
}

/** From now on; what is loaded later cannot have kept the functions from before. */
export function countMacrotasks(): MacrotaskCount {
  let count = 0
  /** Its members stay: `setTimeout` has a form that gives a promise. */
  const counted = <Called extends (...args: never[]) => unknown>(called: Called): Called =>
    new Proxy(called, {
      apply(target, self, args) {
        count++
        return Reflect.apply(target, self, args)
      },
    })
  const { setTimeout, setImmediate } = globalThis
  const { postMessage } = MessagePort.prototype
  globalThis.setTimeout = counted(setTimeout)
  globalThis.setImmediate = counted(setImmediate)
  MessagePort.prototype.postMessage = counted(postMessage)
  return {
    get count() {
      return count
    },
    restore() {
      Object.assign(globalThis, { setTimeout, setImmediate })
      MessagePort.prototype.postMessage = postMessage
    },
  }
}
