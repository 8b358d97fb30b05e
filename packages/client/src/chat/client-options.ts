/** What a chat client asks of its options, told where the mistake is made and not when it first hurts. It keeps nothing. */
import { requireMode, UsageError } from '@millrace/protocol'
import { checkFields, checkLimits, COUNT, FUNCTION, isRecord, LIST, RECORD, TEXT, type Check } from '../checks.ts'
import { checkTool } from '../tools/define-tool.ts'
import { checkAnswerSchemas } from './answer-schemas.ts'
import type { ChatClientOptions, ChatClientSettings } from './options.ts'
import { POLICY } from './outbox.ts'

const SETTINGS: Readonly<Record<string, Check>> = {
  forwardedProps: RECORD,
  output: [(output) => isRecord(output) && typeof output['open'] === 'function', 'what structured() gives'],
  tools: LIST,
  context: LIST,
  logger: [(logger) => isRecord(logger) && typeof logger['warn'] === 'function' && typeof logger['error'] === 'function', 'an object with warn() and error()'],
  onToolCall: FUNCTION,
  onFinish: FUNCTION,
  onError: FUNCTION,
  onEvent: FUNCTION,
  onDiagnostic: FUNCTION,
}

const OPTIONS: Readonly<Record<string, Check>> = {
  whenBusy: [(policy) => FUNCTION[0](policy) || POLICY[0](policy), `${POLICY[1]}, or a function`],
  queue: RECORD,
  threadId: TEXT,
  maxContinuations: COUNT,
  persistence: [FUNCTION[0], 'what persisted() gives'],
  generateId: FUNCTION,
  now: FUNCTION,
}

/** @throws UsageError `bad-options`, `bad-mode`, `bad-limit`, `bad-tool`. */
export function checkClientOptions(options: ChatClientOptions): void {
  checkSettings(options)
  checkFields(options, OPTIONS)
  requireMode(options.mode)
  checkLimits(options.limits)
}

/** @throws UsageError `bad-options`, `bad-tool`. */
export function checkSettings(settings: ChatClientSettings): void {
  checkFields(settings, SETTINGS)
  settings.tools?.forEach(checkTool)
  const names = settings.tools?.map(({ name }) => name) ?? []
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) throw new UsageError('bad-tool', `Two tools are called "${twice}": an agent could call but one of them.`)
  checkAnswerSchemas(settings.answers)
}
