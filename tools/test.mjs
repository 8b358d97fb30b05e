// `npm test`: builds what changed, then runs every kind of test. `npm test -- ARGS` hands ARGS to Vitest.
// Without a browser the other kinds still run and the end says what was left out; with CI=true that is a failure.
import { buildAll } from './build.mjs'
import { ensureBrowser } from './ensure-browser.mjs'
import { runVitest } from './run-vitest.mjs'

const ci = /^(1|true)$/i.test(process.env.CI ?? '')

const browser = ensureBrowser()
const missing = 'reason' in browser ? browser.reason : undefined
if ('path' in browser) process.env.CHROME_PATH = browser.path

const built = await buildAll()
const result = runVitest(['node', 'dom', 'interop', ...(missing ? [] : ['browser*', 'e2e'])], {
  args: process.argv.slice(2),
})

let { failed } = result
if (!built) {
  console.log('\nThe build failed (see above).')
  failed += 1
}
if (missing) {
  console.log(`\nBrowser and end-to-end tests were ${ci ? 'not run' : 'skipped'}: ${missing}`)
  if (ci) failed += 1
}
console.log(`\n${result.passed} passed, ${failed} failed, ${result.skipped} skipped`)
process.exitCode = failed > 0 || !result.ok ? 1 : 0
