// Tells which files have grown long. Only a hint: ask which two things such a file is doing.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const limits = { source: 300, test: 500 }
const root = fileURLToPath(new URL('../', import.meta.url))

/** @returns {string[]} a line for each file over its limit, longest first */
export function longFiles() {
  const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  return list
    .toString()
    .split('\n')
    .filter((path) => /\.(ts|tsx|mjs|js)$/.test(path) && existsSync(join(root, path)))
    .map((path) => ({ path, lines: readFileSync(join(root, path), 'utf8').split('\n').length - 1 }))
    .filter(({ path, lines }) => lines > (/\.(test|test-d)\./.test(path) ? limits.test : limits.source))
    .sort((a, b) => b.lines - a.lines)
    .map(({ path, lines }) => `${path}: ${lines} lines`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const line of longFiles()) console.log(line)
}
