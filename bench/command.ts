/** What the command line of `npm run bench` asks for. */
import { parseArgs } from 'node:util'
import { GROUPS } from './groups.ts'
import type { Style } from './report.ts'
import type { RunOptions } from './runner.ts'

/** Benches of parts: programs of their own. */
const PARTS = ['compaction', 'json-patch', 'page', 'partial-json']

export interface Command extends RunOptions {
  readonly groups: readonly string[]
  readonly parts: readonly string[]
  readonly style: Style
  readonly json?: string
  /** What was asked for, without where it goes. */
  readonly spelled: string
}

const DEFAULT_ROUNDS = 3
const DEFAULT_CAP_S = 20

/** @throws Error that says what is wrong. */
export function readCommand(args: string[]): Command {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      rounds: { type: 'string' },
      cap: { type: 'string' },
      json: { type: 'string' },
      markdown: { type: 'boolean', default: false },
    },
  })
  const known = [...Object.keys(GROUPS), ...PARTS]
  const unknown = positionals.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new Error(`no such bench: ${unknown.join(', ')}; there are ${known.join(', ')}`)
  const rounds = Number(values.rounds ?? DEFAULT_ROUNDS)
  const cap = Number(values.cap ?? DEFAULT_CAP_S)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number from 1')
  if (!(cap > 0 && cap <= 3_600)) throw new Error('--cap takes seconds, more than 0 and at most 3,600')
  if (values.json !== undefined && positionals.includes('page') && positionals.some((name) => name in GROUPS)) throw new Error('--json takes the figures of groups or of the page, not of both')
  return {
    groups: positionals.length === 0 ? Object.keys(GROUPS) : Object.keys(GROUPS).filter((name) => positionals.includes(name)),
    parts: PARTS.filter((name) => positionals.includes(name)),
    rounds,
    capMs: cap * 1_000,
    style: values.markdown ? 'markdown' : 'text',
    ...(values.json !== undefined && { json: values.json }),
    spelled: spelled([...positionals, ...option('--rounds', values.rounds), ...option('--cap', values.cap)]),
  }
}

const option = (name: string, value: string | undefined): string[] => (value === undefined ? [] : [name, value])

function spelled(args: readonly string[]): string {
  return ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' ')
}
