// `npm run bench [-- NAME… OPTIONS]`: builds what changed, then runs bench/main.ts (as bench/dist/main.js) as a production
// program. What is built is told on stderr: stdout is the report.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { buildAll, targets } from './build.mjs'
import { ensureBrowser } from './ensure-browser.mjs'
import { chromeArgs } from './find-chrome.mjs'

const args = process.argv.slice(2)
/** The one bench that needs a browser, and a page to show in it. */
const withPage = args.includes('page')

const only = targets.filter(({ name, page }) => (page ? withPage && name === 'bench-page' : name !== 'demo'))
if (!(await buildAll({ only, log: (line) => console.error(line) }))) process.exit(1)
const browser = withPage ? ensureBrowser() : undefined
if (browser !== undefined && 'reason' in browser) console.error(`bench: ${browser.reason}`)
const program = fileURLToPath(new URL('../bench/dist/main.js', import.meta.url))
const { status } = spawnSync(process.execPath, [program, ...args], {
  stdio: 'inherit',
  env: {
    ...process.env,
    NODE_ENV: 'production',
    ...(browser !== undefined && 'path' in browser && { CHROME_PATH: browser.path, CHROME_ARGS: chromeArgs().join(' ') }),
  },
})
process.exitCode = status ?? 1
