// A Vitest reporter that only counts. With MILLRACE_COUNT_FILE set it leaves the totals there as JSON.
import { writeFileSync } from 'node:fs'

/** @typedef {{ passed: number, failed: number, skipped: number }} Count */

export default class CountReporter {
  /**
   * A file that could not be loaded, a hook that threw and an unhandled error count as one failure each: none of
   * them shows up as a failed test.
   * @param {readonly import('vitest/node').TestModule[]} modules
   * @param {readonly unknown[]} unhandled
   */
  onTestRunEnd(modules, unhandled) {
    /** @type {Count} */
    const count = { passed: 0, failed: unhandled.length, skipped: 0 }
    for (const module of modules) {
      const before = count.failed
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        count[state === 'passed' || state === 'failed' ? state : 'skipped'] += 1
      }
      if (module.state() === 'failed' && count.failed === before) count.failed += 1
    }
    if (process.env.MILLRACE_COUNT_FILE) writeFileSync(process.env.MILLRACE_COUNT_FILE, JSON.stringify(count))
  }
}
