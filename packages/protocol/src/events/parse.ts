/**
 * Frames → events: JSON text → value → (1.0 form, if it is given what upgrades) → enforced. Everything after this file may rely on an event's
 * types; nothing after it sees a field that AG-UI 1.0 does not define.
 */
import type { Reporter } from '../diagnostics.ts'
import { ProtocolError } from '../errors.ts'
import type { Frame } from '../frames/frame.ts'
import type { Limits } from '../limits.ts'
import { anyEvent } from './catalogue.ts'
import { isObject } from '../json-value.ts'
import { Enforcer } from './enforce.ts'
import type { Event } from './event.ts'
import { versionConcern } from './version.ts'

/** The sentinel `[DONE]`, which some servers send after the last event. */
export const DONE: unique symbol = Symbol('[DONE]')

function parseJson(frame: Frame): unknown {
  try {
    return JSON.parse(frame.data)
  } catch {
    const excerpt = frame.data.length > 80 ? `${frame.data.slice(0, 80)}…` : frame.data
    // An object cannot be cut and stay valid JSON, so an unterminated frame that does not parse was cut.
    throw frame.unterminated
      ? new ProtocolError('The stream ended in the middle of a frame', { code: 'truncated', rule: 'frame.truncated', line: frame.line })
      : new ProtocolError(`A frame is not JSON: ${excerpt}`, { code: 'malformed', rule: 'frame.not-json', line: frame.line })
  }
}

/**
 * The JSON value a frame holds, or {@link DONE}.
 * @throws ProtocolError `malformed` if the frame is not JSON, `truncated` if it was cut.
 */
export function parseFrame(frame: Frame): unknown {
  return frame.data === '[DONE]' ? DONE : parseJson(frame)
}

/**
 * As {@link parseFrame}, for NDJSON lines: an event, or an envelope `{id, chunk}` around one.
 * @throws ProtocolError `malformed` if the line is not JSON, `truncated` if it was cut.
 */
export function parseNdjsonFrame(frame: Frame): { readonly event: unknown; readonly id?: string } {
  const value = parseFrame(frame)
  if (isObject(value) && !Object.hasOwn(value, 'type') && isObject(value['chunk'])) {
    const id = value['id']
    return typeof id === 'string' ? { event: value['chunk'], id } : { event: value['chunk'] }
  }
  return { event: value }
}

/** A raw event whose type is known. */
export type RawEvent = Record<string, unknown> & { readonly type: string }

/** Makes, for one stream, what brings a raw event into its 1.0 form and leaves alone what has it. */
export type UpgradeFactory = (reporter: Reporter) => (raw: RawEvent) => RawEvent

/** Raw values → enforced events. One for each stream. */
export class EventParser {
  readonly #reporter: Reporter
  readonly #upgrade: ((raw: RawEvent) => RawEvent) | undefined
  readonly #enforcer: Enforcer

  /** @param upgrade what reads old spellings; without it they are not known. */
  constructor(reporter: Reporter, limits: Limits, upgrade?: UpgradeFactory, nulls?: 'malformed' | 'absent') {
    this.#reporter = reporter
    this.#upgrade = upgrade?.(reporter)
    this.#enforcer = new Enforcer(reporter, limits.jsonDepth, nulls)
  }

  /**
   * The event, or undefined if AG-UI 1.0 does not define it (reported).
   * @throws ProtocolError `malformed` with rule, event index and pointer.
   */
  parse(raw: unknown): Event | undefined {
    const reporter = this.#reporter
    const type = isObject(raw) && Object.hasOwn(raw, 'type') ? raw['type'] : undefined
    if (typeof type !== 'string' || type === '') {
      reporter.type = undefined
      throw reporter.error('malformed', 'event.malformed', {
        message: 'An event is a JSON object with a non-empty string `type`',
        pointer: isObject(raw) ? '/type' : '',
      })
    }
    reporter.type = type
    const event = this.#upgrade?.(raw as RawEvent) ?? (raw as RawEvent)
    if (!anyEvent.members.has(event.type)) {
      reporter.report('event.unknown-type', { message: `AG-UI 1.0 has no event \`${type}\`; it was dropped`, pointer: '/type' })
      return undefined
    }
    const kept = this.#enforcer.enforce(anyEvent, event) as Event | undefined
    if (kept === undefined) {
      reporter.report('event.unknown-member', { message: `${type} cannot be without a value that AG-UI 1.0 does not define; it was dropped` })
      return undefined
    }
    if (kept.type === 'RUN_STARTED' && kept.protocolVersion !== undefined) {
      const concern = versionConcern(kept.protocolVersion)
      if (concern !== undefined) reporter.report('run.version', { message: concern, pointer: '/protocolVersion' })
    }
    return kept
  }
}
