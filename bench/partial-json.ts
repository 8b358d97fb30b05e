/**
 * `npm run bench -- partial-json`: tool arguments that come in 20-unit deltas, read after every one. Ours, a peer that parses
 * anew each time, and `JSON.parse` once at the end.
 */
import { PartialJson, ThreadReader, toolInput, toUIMessages, type ToolCallPart } from '@millrace/protocol'
import { parse } from 'partial-json'
import { fileURLToPath } from 'node:url'
import { compare, type Contender, type Group } from './compare.ts'

const DELTA = 20

const SENTENCE = 'The current turns a wheel of oak and iron, "slowly",\nwhile water runs below it. '

/** What a model writes: a long text in one member, or a list of many small objects. */
const SHAPES: Readonly<Record<string, (length: number) => unknown>> = {
  'one long string': (length) => ({ path: 'notes/wheel.md', content: SENTENCE.repeat(Math.ceil(length / 85)) }),
  'a list of records': (length) => ({
    title: 'Readings',
    rows: Array.from({ length: Math.ceil(length / 100) }, (_, id) => ({ id, name: `wheel ${id}`, ok: id % 3 === 0, at: [id / 2, -id], note: 'water runs below it' })),
  }),
}

/** Folds the deltas into a thread and looks at the view after each, as a user interface does; `look` gets the call's part. */
function throughView(deltas: readonly string[], look: (part: ToolCallPart) => unknown): unknown {
  const reader = new ThreadReader()
  reader.accept({ type: 'RUN_STARTED', threadId: 't', runId: 'r' })
  reader.accept({ type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'write' })
  let seen: unknown
  for (const delta of deltas) {
    reader.accept({ type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta })
    seen = look(toUIMessages(reader.snapshot().messages)[0]?.parts[0] as ToolCallPart)
  }
  return seen
}

/** Reads after every delta. */
function ours(deltas: readonly string[]): unknown {
  const json = new PartialJson()
  let value: unknown
  for (const delta of deltas) {
    json.append(delta)
    value = json.value
  }
  return value
}

function unread(deltas: readonly string[]): PartialJson {
  const json = new PartialJson()
  for (const delta of deltas) json.append(delta)
  return json
}

function anew(deltas: readonly string[]): unknown {
  let text = ''
  let value: unknown
  for (const delta of deltas) {
    text += delta
    value = parse(text)
  }
  return value
}

function groupOf(shape: string, text: string): Group {
  const deltas = Array.from({ length: Math.ceil(text.length / DELTA) }, (_, index) => text.slice(index * DELTA, (index + 1) * DELTA))
  const check = (answer: unknown): boolean => JSON.stringify(answer) === text
  const contender = (name: string, run: (deltas: readonly string[]) => unknown): Contender => ({
    name,
    prepare: () => () => run(deltas),
    ...(!name.endsWith('unread') && { check }),
  })
  return {
    name: `${shape}, ${Math.round(text.length / 1000)} KB in ${deltas.length.toLocaleString('en')} deltas`,
    base: 'millrace',
    contenders: [
      contender('JSON.parse once', () => JSON.parse(text)),
      contender('millrace, unread', unread),
      contender('millrace', ours),
      contender('view, unread', (pieces) => throughView(pieces, (part) => part)),
      contender('view, toolInput', (pieces) => throughView(pieces, toolInput)),
      contender('partial-json', anew),
    ],
  }
}

const groups = Object.entries(SHAPES).flatMap(([shape, make]) => [100, 500].map((kilobytes) => groupOf(shape, JSON.stringify(make(kilobytes * 1000)))))
await compare(fileURLToPath(import.meta.url), groups, 6)
