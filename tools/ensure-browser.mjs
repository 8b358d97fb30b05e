// Makes sure there is a browser to test in, installing one where that needs no questions.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { findChrome } from './find-chrome.mjs'

const minutes = 60_000

/**
 * @param {string} command @param {string[]} args @param {number} timeout in ms
 * @returns {string | undefined} why it failed, or undefined
 */
function attempt(command, args, timeout) {
  console.log(`browser: ${command} ${args.join(' ')}`)
  const { status, error, stderr } = spawnSync(command, args, {
    timeout,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: process.platform === 'win32',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  if (status === 0) return undefined
  const lines = stderr?.trim().split('\n') ?? []
  const why = error?.message ?? (lines.find((line) => /error|failed/i.test(line)) || lines.at(-1) || `status ${status}`)
  return `\`${command} ${args.join(' ')}\` failed: ${why.trim()}`
}

/** Debian and Ubuntu. On Ubuntu the package is only a pointer to a snap, so it is not tried there. */
function hasDebianChromium() {
  if (process.getuid?.() !== 0 || !existsSync('/etc/os-release') || !existsSync('/usr/bin/apt-get')) return false
  return !/^ID=ubuntu$/m.test(readFileSync('/etc/os-release', 'utf8'))
}

/** @returns {{ path: string } | { reason: string }} */
export function ensureBrowser() {
  const found = findChrome()
  if (found) return { path: found }
  if (process.env.CHROME_PATH) return { reason: `CHROME_PATH is not an executable: ${process.env.CHROME_PATH}` }

  const failures = []
  if (hasDebianChromium()) {
    const why =
      attempt('apt-get', ['update'], 3 * minutes) ??
      attempt('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], 10 * minutes)
    if (why) failures.push(why)
    const path = findChrome()
    if (path) return { path }
  }
  const why = attempt('npx', ['--no-install', 'playwright-core', 'install', 'chromium'], 5 * minutes)
  if (why) failures.push(why)
  const path = findChrome()
  if (path) return { path }

  return {
    reason: [
      'no Chrome or Chromium was found and none could be installed.',
      ...failures,
      'Install Chrome or Chromium (Debian: apt-get install chromium), or set CHROME_PATH to the executable.',
    ].join('\n  '),
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const browser = ensureBrowser()
  console.log('path' in browser ? browser.path : browser.reason)
  process.exitCode = 'path' in browser ? 0 : 1
}
