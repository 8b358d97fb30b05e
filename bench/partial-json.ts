/**
 * `npm run bench -- partial-json`: tool arguments that come in 20-unit deltas, read after every one. Ours, a peer that parses
 * anew each time, and `JSON.parse` once at the end, in one run; medians. A contender past the cap is shown with `>`.
 */
import { PartialJson, ThreadReader, toolInput, toUIMessages, type ToolCallPart } from '@millrace/protocol'
import { parse } from 'partial-json'
import { heading, median, ms, ratio, timed } from './figures.ts'

const CAP_MS = 20_000
const ROUNDS = 5
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

interface Contender {
  readonly name: string
  run(deltas: readonly string[], stopAt: number): unknown
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

const contenders: readonly Contender[] = [
  { name: 'JSON.parse once', run: (deltas) => JSON.parse(deltas.join('')) },
  {
    name: 'millrace, unread',
    run: (deltas) => {
      const json = new PartialJson()
      for (const delta of deltas) json.append(delta)
      return json
    },
  },
  {
    name: 'millrace',
    run: (deltas) => {
      const json = new PartialJson()
      let value: unknown
      for (const delta of deltas) {
        json.append(delta)
        value = json.value
      }
      return value
    },
  },
  { name: 'view, unread', run: (deltas) => throughView(deltas, (part) => part) },
  { name: 'view, toolInput', run: (deltas) => throughView(deltas, toolInput) },
  {
    name: 'partial-json',
    run: (deltas, stopAt) => {
      let text = ''
      let value: unknown
      for (const delta of deltas) {
        text += delta
        value = parse(text)
        if (performance.now() > stopAt) return undefined
      }
      return value
    },
  },
]

console.log(heading(ROUNDS))
for (const [shape, make] of Object.entries(SHAPES)) {
  for (const kilobytes of [100, 500]) {
    const text = JSON.stringify(make(kilobytes * 1000))
    const deltas = Array.from({ length: Math.ceil(text.length / DELTA) }, (_, index) => text.slice(index * DELTA, (index + 1) * DELTA))
    console.log(`${shape}, ${Math.round(text.length / 1000)} KB in ${deltas.length.toLocaleString('en')} deltas`)
    table(text, deltas)
  }
}

function table(text: string, deltas: readonly string[]): void {
  const times = new Map<string, number[]>(contenders.map(({ name }) => [name, []]))
  const capped = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, run } of contenders) {
      if (capped.has(name) || (name === 'partial-json' && round > 0)) continue
      const { result, time } = timed(() => run(deltas, performance.now() + CAP_MS))
      if (result === undefined) capped.add(name)
      else if (!name.endsWith('unread') && JSON.stringify(result) !== text) throw new Error(`${name} gives a wrong answer`)
      times.get(name)?.push(time)
    }
  }
  const base = median(times.get('millrace') ?? [])
  for (const { name } of contenders) {
    const time = median(times.get(name) ?? [])
    console.log(`  ${name.padEnd(18)}${`${capped.has(name) ? '> ' : ''}${ms(time)}`.padStart(12)} ms${ratio(time, base).padStart(10)} of millrace`)
  }
  console.log('')
}
