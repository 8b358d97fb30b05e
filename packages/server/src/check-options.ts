/**
 * Options of `createRunHandler`, and the checks that the types cannot hold plain JavaScript to. It knows names, not what is
 * done with them.
 */
import { UsageError } from '@millrace/protocol'
import type { Agent } from './agent.ts'
import type { Authorize } from './authorize.ts'
import type { Clock } from './clock.ts'
import type { ServerLimits } from './limits.ts'
import type { EventLog } from './log/contract.ts'
import type { Logger } from './logger.ts'

export interface RunHandlerOptions {
  readonly agent: Agent
  /** Required: there is no default for who may run and read. `() => true` lets everybody. */
  readonly authorize: Authorize
  /** Where runs are kept. Default: a `MemoryLog`, which one process has and loses. */
  readonly log?: EventLog
  /** Where errors go whose text must not go to clients. Default: nowhere. `console` will do. */
  readonly logger?: Logger
  /**
   * When the last reader of a run is gone: `continue` (default) lets it run on, since it can be joined again and a
   * phone in a tunnel is no reason to throw an answer away; `cancel` ends it.
   */
  readonly onDisconnect?: 'continue' | 'cancel'
  /** Milliseconds of silence before a heartbeat; default 15,000, below the idle limits of common proxies. */
  readonly heartbeatMs?: number
  /** Milliseconds after which a producer that shows no life counts as dead; default 30,000. */
  readonly leaseMs?: number
  readonly limits?: Partial<ServerLimits>
  readonly clock?: Clock
  /** Fresh ids for messages, calls and interrupts; default random UUIDs. */
  readonly createId?: () => string
}

/** Every method that must be there, by the option that must have it. */
const METHODS: Readonly<Record<'log' | 'logger' | 'clock', readonly string[]>> = {
  log: ['create', 'append', 'renew', 'close', 'takeOver', 'requestCancel', 'get', 'input', 'list', 'read', 'tail', 'trim'],
  logger: ['warn', 'error'],
  clock: ['now', 'after', 'turn'],
}

/** @throws UsageError that names the option which is missing or is not what it has to be. */
export function checkOptions(options: unknown): asserts options is RunHandlerOptions {
  if (typeof options !== 'object' || options === null) {
    throw new UsageError('handler.options', 'createRunHandler needs an object of options: { agent, authorize }')
  }
  const { agent, authorize, createId, onDisconnect } = options as Partial<Record<string, unknown>>
  if (typeof agent !== 'function') throw new UsageError('handler.agent', 'createRunHandler needs an agent')
  if (typeof authorize !== 'function') {
    throw new UsageError(
      'handler.authorize',
      'createRunHandler needs `authorize`, which says who may run and read; pass `authorize: () => true` to let everybody',
    )
  }
  if (createId !== undefined && typeof createId !== 'function') {
    throw new UsageError('handler.createId', '`createId` is no function')
  }
  if (onDisconnect !== undefined && onDisconnect !== 'continue' && onDisconnect !== 'cancel') {
    throw new UsageError('handler.onDisconnect', "`onDisconnect` is neither 'continue' nor 'cancel'")
  }
  for (const [name, methods] of Object.entries(METHODS)) checkMethods(name, (options as Record<string, unknown>)[name], methods)
}

function checkMethods(name: string, value: unknown, methods: readonly string[]): void {
  if (value === undefined) return
  const held = value as Partial<Record<string, unknown>> | null
  const missing = methods.filter((method) => typeof held?.[method] !== 'function')
  if (missing.length > 0) throw new UsageError(`handler.${name}`, `\`${name}\` lacks the methods ${missing.join(', ')}`)
}
