/**
 * Streams that keep and streams that break each rule, as data: what the tests of the rules run, and what
 * `conformance/rules/` gives to other implementations.
 */
import { EventVerifier, type Event, type RuleId } from '../src/index.ts'

export type Raw = { type: Event['type'] } & Record<string, unknown>

export const start: Raw = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
export const finish: Raw = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }
export const error: Raw = { type: 'RUN_ERROR', message: 'boom' }
export const text = (what: 'START' | 'CONTENT' | 'END' | 'CHUNK', messageId: string, more: object = {}): Raw => ({
  type: `TEXT_MESSAGE_${what}`,
  messageId,
  ...(what === 'CONTENT' && { delta: 'x' }),
  ...more,
})
export const tool = (what: 'START' | 'ARGS' | 'END' | 'CHUNK', toolCallId: string, more: object = {}): Raw => ({
  type: `TOOL_CALL_${what}`,
  toolCallId,
  ...(what === 'START' && { toolCallName: 'f' }),
  ...(what === 'ARGS' && { delta: '{}' }),
  ...more,
})
export const thought = (what: 'START' | 'CONTENT' | 'END', messageId: string, more: object = {}): Raw => ({
  type: `REASONING_MESSAGE_${what}`,
  messageId,
  ...(what === 'START' && { role: 'reasoning' }),
  ...(what === 'CONTENT' && { delta: 'x' }),
  ...more,
})
export const span = (what: 'START' | 'END', messageId: string, more: object = {}): Raw => ({ type: `REASONING_${what}`, messageId, ...more })
export const step = (what: 'STARTED' | 'FINISHED', stepName: string, more: object = {}): Raw => ({ type: `STEP_${what}`, stepName, ...more })
export const agent = (what: 'STARTED' | 'FINISHED' | 'ERROR', subagentRunId: string, more: object = {}): Raw => ({
  type: `SUBAGENT_${what}`,
  subagentRunId,
  ...(what === 'STARTED' && { name: 'n' }),
  ...(what === 'ERROR' && { message: 'm' }),
  ...more,
})
export const s1: { readonly subagentRunId: string } = { subagentRunId: 's1' }
export const s2: { readonly subagentRunId: string } = { subagentRunId: 's2' }

export interface OrderRow {
  readonly rule: RuleId
  /** Streams that keep the rule. */
  readonly keeps: readonly Raw[][]
  /** Streams whose last event breaks it, and the index of the event it collides with. */
  readonly breaks: readonly { stream: Raw[]; related?: number }[]
}

export const ORDER_RULES: readonly OrderRow[] = [
  { rule: 'run.first-event', keeps: [[start], [error]], breaks: [{ stream: [text('START', 'a')] }, { stream: [finish] }, { stream: [{ type: 'CUSTOM', name: 'n', value: 1 }] }] },
  { rule: 'run.nested', keeps: [[start, finish, start], [start, error, start]], breaks: [{ stream: [start, start] }] },
  { rule: 'run.after-finish', keeps: [[start, finish, error]], breaks: [{ stream: [start, finish, finish], related: 1 }, { stream: [start, finish, { type: 'RAW', event: 1 }], related: 1 }] },
  { rule: 'run.after-error', keeps: [[start, error, start]], breaks: [{ stream: [start, error, error], related: 1 }, { stream: [error, finish], related: 0 }] },
  {
    rule: 'finish.all-closed',
    keeps: [[start, text('START', 'a'), text('END', 'a'), finish], [start, text('START', 'a'), error]],
    breaks: [
      { stream: [start, text('START', 'a'), finish], related: 1 },
      { stream: [start, tool('START', 'a'), finish], related: 1 },
      { stream: [start, step('STARTED', 'a'), finish], related: 1 },
      { stream: [start, span('START', 'a'), finish], related: 1 },
      { stream: [start, thought('START', 'a'), finish], related: 1 },
      { stream: [start, agent('STARTED', 's1'), finish], related: 1 },
    ],
  },
  { rule: 'text.open', keeps: [[start, text('START', 'a'), text('END', 'a'), text('START', 'a')]], breaks: [{ stream: [start, text('START', 'a'), text('START', 'a')], related: 1 }, { stream: [start, text('START', 'a'), text('CHUNK', 'a')], related: 1 }] },
  {
    rule: 'text.continue',
    keeps: [[start, text('START', 'a'), text('START', 'b'), text('CONTENT', 'a'), text('CONTENT', 'b')]],
    breaks: [
      { stream: [start, text('CONTENT', 'a')] },
      { stream: [start, text('START', 'a'), text('END', 'a'), text('END', 'a')], related: 1 },
      { stream: [start, text('CHUNK', 'a'), text('CONTENT', 'a')], related: 1 },
      { stream: [start, text('START', 'a'), error, start, text('CONTENT', 'a')] },
    ],
  },
  { rule: 'tool.open', keeps: [[start, tool('START', 'a'), tool('END', 'a'), tool('START', 'a')]], breaks: [{ stream: [start, tool('START', 'a'), tool('START', 'a')], related: 1 }] },
  { rule: 'tool.continue', keeps: [[start, tool('START', 'a'), text('START', 'a'), tool('ARGS', 'a')]], breaks: [{ stream: [start, tool('ARGS', 'a')] }, { stream: [start, text('START', 'a'), tool('END', 'a')] }] },
  { rule: 'step.open', keeps: [[start, step('STARTED', 'a'), step('STARTED', 'a', s1)]], breaks: [{ stream: [start, step('STARTED', 'a'), step('STARTED', 'a')], related: 1 }] },
  { rule: 'step.close', keeps: [[start, step('STARTED', 'a'), step('STARTED', 'b'), step('FINISHED', 'a')]], breaks: [{ stream: [start, step('FINISHED', 'a')] }, { stream: [start, step('STARTED', 'a', s1), step('FINISHED', 'a')] }] },
  { rule: 'span.open', keeps: [[start, span('START', 'a'), thought('START', 'a')]], breaks: [{ stream: [start, span('START', 'a'), span('START', 'a')], related: 1 }] },
  { rule: 'span.close', keeps: [[start, span('START', 'a'), span('END', 'a')]], breaks: [{ stream: [start, span('END', 'a')] }] },
  { rule: 'reasoning.open', keeps: [[start, thought('START', 'a'), text('START', 'a')]], breaks: [{ stream: [start, thought('START', 'a'), thought('START', 'a')], related: 1 }] },
  { rule: 'reasoning.continue', keeps: [[start, thought('START', 'a'), thought('CONTENT', 'a')]], breaks: [{ stream: [start, thought('CONTENT', 'a')] }, { stream: [start, span('START', 'a'), thought('END', 'a')] }] },
  { rule: 'chunk.opener', keeps: [[start, text('CHUNK', 'a'), { type: 'TEXT_MESSAGE_CHUNK', delta: 'x' }]], breaks: [{ stream: [start, { type: 'TEXT_MESSAGE_CHUNK', delta: 'x' }] }, { stream: [start, { type: 'TOOL_CALL_CHUNK', toolCallId: 'a' }] }, { stream: [start, { type: 'REASONING_MESSAGE_CHUNK' }] }] },
  { rule: 'chunk.ambiguous', keeps: [[start, text('CHUNK', 'a', s1), { type: 'TEXT_MESSAGE_CHUNK', delta: 'x' }]], breaks: [{ stream: [start, text('CHUNK', 'a', s1), text('CHUNK', 'b', s2), { type: 'TEXT_MESSAGE_CHUNK', delta: 'x' }] }] },
  {
    rule: 'chunk.conflict',
    keeps: [[start, text('CHUNK', 'a'), text('CHUNK', 'a', { role: 'assistant' })]],
    breaks: [
      { stream: [start, text('CHUNK', 'a'), text('CHUNK', 'a', { role: 'user' })], related: 1 },
      { stream: [start, text('CHUNK', 'a'), text('CHUNK', 'a', { name: 'Ann' })], related: 1 },
      { stream: [start, tool('CHUNK', 'a', { toolCallName: 'f' }), tool('CHUNK', 'a', { toolCallName: 'g' })], related: 1 },
    ],
  },
  { rule: 'attr.continuation', keeps: [[start, text('START', 'a', s1), text('CONTENT', 'a'), text('CONTENT', 'a', s1)]], breaks: [{ stream: [start, text('START', 'a', s1), text('CONTENT', 'a', s2)], related: 1 }, { stream: [start, text('START', 'a'), text('END', 'a', s1)], related: 1 }, { stream: [start, text('CHUNK', 'a', s1), text('CHUNK', 'a', s2)], related: 1 }] },
  { rule: 'attr.reopen', keeps: [[start, text('START', 'a', s1), text('END', 'a'), text('START', 'a'), text('CONTENT', 'a', s1)]], breaks: [{ stream: [start, text('START', 'a', s1), text('END', 'a'), text('START', 'a', s2)], related: 1 }, { stream: [start, span('START', 'a', s1), thought('START', 'a', s2)] }] },
  { rule: 'attr.tool-parent', keeps: [[start, text('START', 'a', s1), tool('START', 'c', { parentMessageId: 'a' }), tool('ARGS', 'c', s1)]], breaks: [{ stream: [start, text('START', 'a', s1), tool('START', 'c', { parentMessageId: 'a', ...s2 })], related: 1 }] },
  { rule: 'attr.encrypted', keeps: [[start, text('START', 'a', s1), { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'a', encryptedValue: 'v' }]], breaks: [{ stream: [start, text('START', 'a', s1), { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'a', encryptedValue: 'v', ...s2 }], related: 1 }] },
  { rule: 'sub.start', keeps: [[start, agent('STARTED', 's1'), agent('FINISHED', 's1'), finish, start, agent('STARTED', 's1')]], breaks: [{ stream: [start, agent('STARTED', 's1'), agent('STARTED', 's1')], related: 1 }, { stream: [start, agent('STARTED', 's1'), agent('FINISHED', 's1'), agent('STARTED', 's1')], related: 1 }] },
  { rule: 'sub.parent', keeps: [[start, agent('STARTED', 's1'), agent('STARTED', 's2', { parentSubagentRunId: 's1' })]], breaks: [{ stream: [start, agent('STARTED', 's2', { parentSubagentRunId: 's1' })] }] },
  { rule: 'sub.end', keeps: [[start, agent('STARTED', 's1'), agent('ERROR', 's1')]], breaks: [{ stream: [start, agent('FINISHED', 's1')] }, { stream: [start, agent('STARTED', 's1'), agent('ERROR', 's1'), agent('FINISHED', 's1')], related: 1 }] },
]

/** A stream for one rule: raw events, or the text of a stream where bytes matter, or protobuf frames in base64. */
export type Stream = readonly object[] | string | { readonly protobuf: string }

export interface RuleCase {
  readonly rule: RuleId
  /** Streams in which the rule is found. */
  readonly finds: readonly Stream[]
  /** Streams in which it is not. */
  readonly quiet: readonly Stream[]
  /** Found only if hygiene rules are asked for, or only in tolerant mode. */
  readonly needs?: 'hygiene' | 'tolerant'
  /** Bounds under which it is found. */
  readonly limits?: { readonly frameLength?: number; readonly jsonDepth?: number; readonly ledgerItems?: number }
}

const run = (...events: object[]): object[] => [start, ...events, finish]
const sse = (...events: object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const say = (id: string, delta = 'x'): object[] => [text('START', id), text('CONTENT', id, { delta }), text('END', id)]
const call = (id: string, args = '{}', more: object = {}): object[] => [tool('START', id, more), tool('ARGS', id, { delta: args }), tool('END', id)]
const result = (toolCallId: string, messageId = 'x'): object => ({ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content: '1' })
const forTools = { ...finish, metadata: { tanstack: { finishReason: 'tool_calls' } } }
const asked = (name: string) => ({ type: 'CUSTOM', name, value: { toolCallId: 'c', toolName: 't', input: {}, approval: { id: 'a', needsApproval: true } } })
const stamp = (events: readonly object[]): object[] => events.map((event) => ({ ...event, timestamp: 1 }))
const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])

const OTHER_RULES: readonly RuleCase[] = [
  { rule: 'frame.not-json', finds: ['data: <html>\n\n', `${sse(start)}data: nope\n\n`], quiet: [sse(start, finish)] },
  {
    rule: 'frame.not-protobuf',
    // RUN_STARTED and an empty frame; a frame of text.
    finds: [{ protobuf: 'AAAADGIKCgIICxIBdBoBcgAAAAA=' }, { protobuf: 'AAAABjxodG1sPg==' }],
    quiet: [{ protobuf: 'AAAADGIKCgIICxIBdBoBcgAAAAxqCgoCCAwSAXQaAXI=' }],
  },
  { rule: 'frame.truncated', finds: [`${sse(start)}data: {"type":"RUN_FIN`], quiet: [sse(start, finish), sse(start, finish).trimEnd()] },
  { rule: 'frame.too-long', finds: [sse({ ...start, runId: 'r'.repeat(200) })], quiet: [sse(start, finish)], limits: { frameLength: 100 } },
  { rule: 'frame.done', finds: [`${sse(start)}data: [DONE]\n\n`, `${sse(start, finish)}data: [DONE]\n\n`], quiet: [sse(start, finish)] },
  { rule: 'event.malformed', finds: [[start, text('CONTENT', 'a', { delta: 5 })], [start, { type: 'TEXT_MESSAGE_START' }], [start, { messageId: 'a' }], [start, text('START', 'a', { name: null })]], quiet: [run(...say('a'))] },
  { rule: 'event.too-deep', finds: [[start, { type: 'STATE_SNAPSHOT', snapshot: deep(6) }]], quiet: [run({ type: 'STATE_SNAPSHOT', snapshot: deep(5) })], limits: { jsonDepth: 5 } },
  { rule: 'event.unknown-type', finds: [run({ type: 'HOLOGRAM' })], quiet: [run({ type: 'CUSTOM', name: 'acme.hologram', value: 1 })] },
  { rule: 'event.unknown-field', finds: [run({ ...text('START', 'a'), mood: 'x' }, text('END', 'a'))], quiet: [run({ ...text('START', 'a'), metadata: { mood: 'x' } }, text('END', 'a'))] },
  { rule: 'event.unknown-member', finds: [[start, { ...finish, outcome: { type: 'mystery' } }], run(text('START', 'a', { role: 'ghost' }), text('END', 'a'))], quiet: [[start, { ...finish, outcome: { type: 'success' } }]] },
  {
    rule: 'event.null-field',
    finds: [run(tool('START', 'c', { parentMessageId: null }), tool('END', 'c')), [{ ...start, input: { threadId: 't', runId: 'r', messages: [], state: null } }, finish]],
    // A state that is null has a place in a snapshot, and none in an input.
    quiet: [run(tool('START', 'c'), tool('END', 'c')), [{ ...start, input: { threadId: 't', runId: 'r', messages: [], state: {} } }, finish], run({ type: 'STATE_SNAPSHOT', snapshot: null })],
  },
  { rule: 'event.retired-shape', finds: [run({ type: 'THINKING_START' }, { type: 'THINKING_END' }), [start, { ...finish, usage: { promptTokens: 3, completionTokens: 2, totalTokens: 5 } }]], quiet: [run(span('START', 'a'), span('END', 'a')), [start, { ...finish, usage: [{ inputTokens: 3, outputTokens: 2, totalTokens: 5 }] }]] },
  { rule: 'run.version', finds: [[{ ...start, protocolVersion: '1.1' }, finish], [{ ...start, protocolVersion: '1.0.0' }, finish]], quiet: [[{ ...start, protocolVersion: '1.0' }, finish], [{ ...start, protocolVersion: '0.9' }, finish]] },
  { rule: 'run.identity', finds: [[start, { ...finish, runId: 'other' }], [start, { ...finish, threadId: 'other' }]], quiet: [run()] },
  { rule: 'run.truncated', finds: [[start], [start, text('START', 'a')]], quiet: [run(), [start, error]] },
  { rule: 'run.empty', finds: [[], [{ type: 'HOLOGRAM' }]], quiet: [run(), [error]] },
  { rule: 'run.ledger-full', finds: [[start, ...say('a'), ...say('b'), text('START', 'c')]], quiet: [run(...say('a'), ...say('b'))], limits: { ledgerItems: 2 } },
  { rule: 'tolerated.note-before-run', needs: 'tolerant', finds: [[{ type: 'CUSTOM', name: 'run.accepted', value: {} }, ...run()]], quiet: [[start, { type: 'CUSTOM', name: 'run.accepted', value: {} }, finish]] },
  { rule: 'tolerated.result-before-run', needs: 'tolerant', finds: [[result('c'), ...run()], [{ type: 'CUSTOM', name: 'run.accepted', value: {} }, result('c'), result('d'), ...run()]], quiet: [run(...call('c'), result('c'))] },
  { rule: 'tolerated.ask-after-run', needs: 'tolerant', finds: [[start, ...call('c'), finish, asked('approval-requested'), asked('tool-input-available')], [start, ...call('c'), forTools, asked('approval-requested')]], quiet: [run(...call('c'), asked('approval-requested'))] },
  { rule: 'tolerated.run-goes-on', needs: 'tolerant', finds: [[start, ...call('c'), forTools, result('c'), ...say('a'), finish], [start, ...call('c'), finish, result('c'), finish]], quiet: [run(...call('c'), result('c'))] },
  { rule: 'tolerated.step-closed-twice', needs: 'tolerant', finds: [run(step('STARTED', 's'), step('FINISHED', 's'), step('FINISHED', 's'))], quiet: [run(step('STARTED', 's'), step('FINISHED', 's'))] },
  { rule: 'hygiene.arguments-not-json', needs: 'hygiene', finds: [run(...call('c', '{"a":'))], quiet: [run(...call('c', '{"a":1}')), run(...call('c', ''))] },
  { rule: 'hygiene.result-without-call', needs: 'hygiene', finds: [run(result('ghost'))], quiet: [run(...call('c'), result('c'))] },
  { rule: 'hygiene.unknown-parent', needs: 'hygiene', finds: [run(...call('c', '{}', { parentMessageId: 'ghost' }))], quiet: [run(...say('m'), ...call('c', '{}', { parentMessageId: 'm' }))] },
  { rule: 'hygiene.stray-thread', needs: 'hygiene', finds: [[start, finish, { ...start, threadId: 'u' }, { ...finish, threadId: 'u' }]], quiet: [[start, finish, { ...start, runId: 'r2' }, { ...finish, runId: 'r2' }]] },
  { rule: 'hygiene.run-id-reused', needs: 'hygiene', finds: [[start, finish, start, finish]], quiet: [[start, finish, { ...start, runId: 'r2' }, { ...finish, runId: 'r2' }]] },
  { rule: 'hygiene.delta-before-snapshot', needs: 'hygiene', finds: [run({ type: 'STATE_DELTA', delta: [] })], quiet: [run({ type: 'STATE_SNAPSHOT', snapshot: {} }, { type: 'STATE_DELTA', delta: [] })] },
  { rule: 'hygiene.no-timestamps', needs: 'hygiene', finds: [run()], quiet: [stamp(run())] },
  { rule: 'hygiene.custom-name', needs: 'hygiene', finds: [run({ type: 'CUSTOM', name: 'note', value: 1 })], quiet: [run({ type: 'CUSTOM', name: 'acme.note', value: 1 })] },
  { rule: 'hygiene.raw-wraps-event', needs: 'hygiene', finds: [run({ type: 'RAW', event: text('END', 'a') })], quiet: [run({ type: 'RAW', event: { type: 'response.created' } })] },
  { rule: 'hygiene.empty-delta', needs: 'hygiene', finds: [run(...say('a', ''))], quiet: [run(...say('a'))] },
  { rule: 'state.patch-failed', finds: [run({ type: 'STATE_DELTA', delta: [{ op: 'remove', path: '/ghost' }] })], quiet: [run({ type: 'STATE_DELTA', delta: [{ op: 'add', path: '/a', value: 1 }] })] },
  {
    rule: 'state.null-baseline',
    finds: [[...run({ type: 'STATE_SNAPSHOT', snapshot: null }), { ...start, runId: 'r2' }, { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/a', value: 1 }] }, { ...finish, runId: 'r2' }]],
    // Within the run that said null, null is what its deltas are for.
    quiet: [
      run({ type: 'STATE_SNAPSHOT', snapshot: null }, { type: 'STATE_DELTA', delta: [{ op: 'replace', path: '', value: 1 }] }),
      [...run({ type: 'STATE_SNAPSHOT', snapshot: {} }), { ...start, runId: 'r2' }, { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/a', value: 1 }] }, { ...finish, runId: 'r2' }],
    ],
  },
  { rule: 'state.no-target', finds: [run({ type: 'ACTIVITY_DELTA', messageId: 'ghost', activityType: 'PLAN', patch: [] }), run({ type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'ghost', encryptedValue: 'v' })], quiet: [run({ type: 'ACTIVITY_SNAPSHOT', messageId: 'p', activityType: 'PLAN', content: {} }, { type: 'ACTIVITY_DELTA', messageId: 'p', activityType: 'PLAN', patch: [] })] },
  { rule: 'state.result-id-taken', finds: [run(...say('m'), ...call('c', '{}', { parentMessageId: 'm' }), result('c', 'm'))], quiet: [run(...say('m'), ...call('c', '{}', { parentMessageId: 'm' }), result('c', 'x'))] },
  { rule: 'state.role-conflict', finds: [run({ type: 'ACTIVITY_SNAPSHOT', messageId: 'p', activityType: 'PLAN', content: {} }, ...say('p'))], quiet: [run(...say('p'))] },
  {
    rule: 'state.interrupt-repeated',
    finds: [[start, { ...finish, outcome: { type: 'interrupt', interrupts: [{ id: 'i', reason: 'x' }, { id: 'i', reason: 'x' }] } }]],
    quiet: [[start, { ...finish, outcome: { type: 'interrupt', interrupts: [{ id: 'i', reason: 'x' }, { id: 'j', reason: 'x' }] } }]],
  },
]

/** The stream with what is still open closed, so that it is a whole one with which nothing is wrong. */
function whole(stream: readonly Raw[]): object[] {
  const verifier = new EventVerifier()
  for (const event of stream) verifier.accept(event, () => {})
  return verifier.running ? [...stream, ...verifier.closers(), { type: 'RUN_FINISHED', ...verifier.run }] : [...stream]
}

/** At least one stream on either side of every rule. Those in which it is not found have nothing wrong with them at all. */
export const RULE_CASES: readonly RuleCase[] = [
  ...ORDER_RULES.map(({ rule, keeps, breaks }): RuleCase => ({ rule, finds: breaks.map(({ stream }) => stream), quiet: keeps.map(whole) })),
  ...OTHER_RULES,
]
