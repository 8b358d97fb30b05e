// Finds a Chrome or Chromium to test in. It only looks; ensure-browser.mjs installs one.
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const env = process.env

/** Names looked up on PATH. */
const commands = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome']

/** Fixed places, by platform. @type {Record<string, string[]>} */
const places = {
  linux: ['/usr/bin/chromium', '/usr/bin/google-chrome', '/opt/google/chrome/chrome', '/snap/bin/chromium'],
  darwin: ['/Applications', join(homedir(), 'Applications')].flatMap((dir) => [
    join(dir, 'Google Chrome.app/Contents/MacOS/Google Chrome'),
    join(dir, 'Chromium.app/Contents/MacOS/Chromium'),
  ]),
  win32: [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA].flatMap((dir) =>
    dir ? [join(dir, 'Google/Chrome/Application/chrome.exe'), join(dir, 'Chromium/Application/chrome.exe')] : [],
  ),
}

/** Where Playwright keeps the browsers it downloads. @type {Record<string, string>} */
const playwrightCaches = {
  linux: join(env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'ms-playwright'),
  darwin: join(homedir(), 'Library/Caches/ms-playwright'),
  win32: join(env.LOCALAPPDATA ?? homedir(), 'ms-playwright'),
}
const playwrightCache = env.PLAYWRIGHT_BROWSERS_PATH ?? playwrightCaches[process.platform]

/** Where in each of them the executable lies. */
const playwrightExecutables = [
  'chrome-linux/chrome',
  'chrome-linux64/chrome',
  'chrome-mac/Chromium.app/Contents/MacOS/Chromium',
  'chrome-mac-arm64/Chromium.app/Contents/MacOS/Chromium',
  'chrome-mac-arm64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing',
  'chrome-mac-x64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing',
  'chrome-win/chrome.exe',
  'chrome-win64/chrome.exe',
]

function fromPlaywright() {
  if (!playwrightCache || !existsSync(playwrightCache)) return []
  return readdirSync(playwrightCache)
    .filter((name) => /^chromium-\d+$/.test(name))
    .sort((a, b) => Number(b.slice(9)) - Number(a.slice(9)))
    .flatMap((name) => playwrightExecutables.map((file) => join(playwrightCache, name, file)))
}

/** @param {string} file */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * `CHROME_PATH` wins and is not second-guessed: if it is set and wrong, nothing else is tried.
 * @returns {string | undefined} path of an executable
 */
export function findChrome() {
  if (env.CHROME_PATH) return isExecutable(env.CHROME_PATH) ? env.CHROME_PATH : undefined
  const onPath = (env.PATH ?? '').split(delimiter).flatMap((dir) => commands.map((name) => join(dir, name)))
  return [...onPath, ...(places[process.platform] ?? []), ...fromPlaywright()].find(isExecutable)
}

/** Chromium refuses to sandbox as root, and the small /dev/shm of containers makes it crash. */
export function chromeArgs() {
  return process.getuid?.() === 0 ? ['--no-sandbox', '--disable-dev-shm-usage'] : ['--disable-dev-shm-usage']
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const found = findChrome()
  console.log(found ?? 'no Chrome or Chromium found')
  process.exitCode = found ? 0 : 1
}
