#!/usr/bin/env node
/**
 * Runs this data against any program, in any language, over standard input and output.
 *
 *     node conformance/run.mjs fold  COMMAND ARGS…    e.g.  node conformance/run.mjs fold  npx millrace fold - --json
 *     node conformance/run.mjs check COMMAND ARGS…    e.g.  node conformance/run.mjs check npx millrace check - --json
 *
 * `fold`: the program is given a stream of server-sent events and prints one JSON object with `outcome`, `at`, `messages`, `state`
 * (README of `cases/`). `check`: it prints one with `diagnostics`, each with a `rule` (README of `rules/`) and, where it has one, a
 * `severity`: a stream in which the rule is not to be found has nothing of severity `error`. Cases that need a history,
 * NDJSON, special limits or a mode of their own are left out and counted. Exit status 1 if any case differs.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

const [kind, command, ...args] = process.argv.slice(2)
if ((kind !== 'fold' && kind !== 'check') || command === undefined) {
  console.error('usage: node conformance/run.mjs fold|check COMMAND [ARGS…]')
  process.exit(2)
}

/** @param {string} path */
const json = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
/** @param {readonly object[]} events */
const sse = (events) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

/** @param {string} input @returns {Promise<Record<string, unknown>>} */
function run(input) {
  return new Promise((resolve, reject) => {
    const child = spawn(/** @type {string} */ (command), args, { stdio: ['pipe', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text))
    child.on('error', reject)
    child.on('close', () => {
      try {
        resolve(JSON.parse(output))
      } catch {
        reject(new Error(`printed no JSON object: ${output.slice(0, 200)}`))
      }
    })
    // A program may stop reading at the first violation.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

/** Every member of `expected` is in `actual`; lists have equal length. @param {unknown} expected @param {unknown} actual @returns {boolean} */
function matches(expected, actual) {
  if (Array.isArray(expected)) return Array.isArray(actual) && expected.length === actual.length && expected.every((item, index) => matches(item, actual[index]))
  if (typeof expected !== 'object' || expected === null) return Object.is(expected, actual)
  const held = /** @type {Record<string, unknown>} */ (Object(actual))
  return Object.entries(expected).every(([key, value]) => Object.hasOwn(held, key) && matches(value, held[key]))
}

/** @typedef {{ name: string, input: string, judge: (result: Record<string, unknown>) => string | undefined }} Test */

/** @returns {{ tests: Test[], left: number }} */
function folds() {
  /** @type {Test[]} */
  const tests = []
  let left = 0
  for (const { id, input, expect } of json('cases/cases.json').cases) {
    if ((input.kind !== 'events' && input.kind !== 'sse') || input.history?.length > 0) {
      left++
      continue
    }
    tests.push({
      name: id,
      input: input.kind === 'sse' ? input.text : sse(input.events),
      judge: (result) => ['outcome', 'at', 'messages', 'state'].find((key) => Object.hasOwn(expect, key) && !matches(expect[key], result[key])),
    })
  }
  return { tests, left }
}

/** @returns {{ tests: Test[], left: number }} */
function checks() {
  /** @type {Test[]} */
  const tests = []
  let left = 0
  for (const { rule, finds, quiet, needs, limits } of json('rules/cases.json')) {
    for (const [streams, found] of /** @type {const} */ ([[finds, true], [quiet, false]])) {
      streams.forEach((/** @type {unknown} */ stream, /** @type {number} */ index) => {
        const text = typeof stream === 'string' ? stream : Array.isArray(stream) ? sse(stream) : undefined
        if (needs === 'tolerant' || limits !== undefined || text === undefined) {
          left++
          return
        }
        tests.push({
          name: `${rule} ${found ? 'found' : 'quiet'} ${index + 1}`,
          input: text,
          judge: ({ diagnostics }) => {
            const all = /** @type {{ rule: string, severity?: string }[]} */ (diagnostics)
            const fits = found ? all.some((one) => one.rule === rule) : all.every((one) => one.rule !== rule && one.severity !== 'error')
            return fits ? undefined : 'diagnostics'
          },
        })
      })
    }
  }
  return { tests, left }
}

/** Why a test failed, or undefined. @param {Test} test @returns {Promise<string | undefined>} */
async function failure({ input, judge }) {
  try {
    const result = await run(input)
    const what = judge(result)
    return what === undefined ? undefined : `${what}: ${JSON.stringify(result[what] ?? null).slice(0, 300)}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const { tests, left } = kind === 'fold' ? folds() : checks()
/** @type {(string | undefined)[]} */
const failures = []
let next = 0
const worker = async () => {
  for (let at = next++; at < tests.length; at = next++) failures[at] = await failure(/** @type {Test} */ (tests[at]))
}
await Promise.all(Array.from({ length: availableParallelism() }, worker))
tests.forEach(({ name }, at) => {
  if (failures[at] !== undefined) console.log(`differs  ${name}: ${failures[at]}`)
})
const failed = failures.filter((why) => why !== undefined).length
console.log(`${tests.length - failed} passed, ${failed} failed, ${left} left out`)
process.exitCode = failed > 0 ? 1 : 0
