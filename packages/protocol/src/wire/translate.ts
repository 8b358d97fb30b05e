/**
 * Speaking to peers of before AG-UI 1.0 that are known by configuration (AG-UI 1.0, versions): run inputs for an old
 * server, events for an old client. What such a peer cannot read is taken out; nothing is invented, repaired, reordered
 * or renamed. What old peers send to us is no matter of configuration and lives in `events/upgrade.ts`.
 */
import { UsageError } from '../errors.ts'
import type { ContentPart, Event, EventOf, EventType, Message, RunAgentInput } from '../events/event.ts'
import { PROTOCOL_VERSION } from '../events/version.ts'
import { ChunkExpander } from '../verified/expander.ts'

/** What a translation took out of a value that its peer cannot read. */
export interface Loss {
  readonly code:
    /** SUBAGENT_STARTED, _FINISHED or _ERROR, which the peer does not know; the whole event. */
    | 'subagent-event'
    /** `subagentRunId`: to the peer it is all the parent agent's. Told once for each input and each stream. */
    | 'subagent-tag'
    /** A step whose name another owner's open step has, so that the peer would refuse the stream; the whole event. */
    | 'step'
    /** A content part that is no text, where the peer reads text alone. */
    | 'content-part'
    /** `id` or `metadata` of a text part, where the peer reads text alone. */
    | 'part-data'
    /** `parentRunId`. */
    | 'parent-run'
  /** What it was taken from. */
  readonly from: EventType | 'RunAgentInput'
  /** Where it stood there: a JSON pointer (RFC 6901); empty for a whole event. */
  readonly pointer: string
}

/** What {@link translateFor} gives. Values that need no change are given back as they are; none is changed in place. */
export interface Translation {
  /** A run input as the peer reads it. */
  input<Input extends RunAgentInput>(input: Input): Input
  /**
   * Begins a stream and gives what takes its events one by one: to each the events that stand for it with this peer,
   * which are none, itself, or what a chunk expands to.
   * @param direction `sent` (default): to the peer. `received`: from it, which only takes subagents out, since a peer
   * that cannot know them may have passed on another's.
   * @throws ProtocolError `violation` (`chunk.*`) from the function, for a chunk that has no place.
   */
  events(direction?: 'sent' | 'received'): (event: Event) => readonly Event[]
}

/** What the peers of an era cannot read; each row holds for the versions up to its own, and for all older ones. */
interface Era {
  /** Content that is a list of parts, content that is absent, and `parentRunId`. */
  readonly flat: boolean
  /** Subagents. */
  readonly alone: boolean
  /** `protocolVersion`. */
  readonly undeclared: boolean
}

type Version = readonly [number, number, number]

const FLAT_UNTIL: Version = [0, 0, 39]
const ALONE_UNTIL: Version = [0, 0, 57]

function parseVersion(version: string): Version {
  const parts = typeof version === 'string' ? /^(\d+)\.(\d+)(?:\.(\d+))?$/.exec(version) : null
  if (parts === null) {
    throw new UsageError(
      'bad-version',
      `The peer's version has to be MAJOR.MINOR or MAJOR.MINOR.PATCH, such as 0.0.39; got "${String(version)}".`,
    )
  }
  return [Number(parts[1]), Number(parts[2]), Number(parts[3] ?? 0)]
}

function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
}

/**
 * What has to happen to run inputs and events for a peer of this version.
 *
 * | peer | |
 * |---|---|
 * | 0.0.39 and older | content becomes its text (an absent one of an assistant, empty text), no `parentRunId` |
 * | 0.0.57 and older | no SUBAGENT_*, no `subagentRunId`; chunks, which could not be told apart without it, expanded |
 * | older than 1.0 | no `protocolVersion` |
 * | 1.0 and newer | nothing |
 *
 * @param version of the peer's AG-UI packages or of the protocol: `MAJOR.MINOR` or `MAJOR.MINOR.PATCH`, compared as
 * numbers. `undefined` (unknown) is 1.0.
 * @param onLoss told of everything a reader would miss. It has no default, so that losing in silence is a choice.
 * @throws UsageError `bad-version`.
 */
export function translateFor(version: string | undefined, onLoss: (loss: Loss) => void): Translation {
  const peer = parseVersion(version ?? PROTOCOL_VERSION)
  const era: Era = {
    flat: compare(peer, FLAT_UNTIL) <= 0,
    alone: compare(peer, ALONE_UNTIL) <= 0,
    undeclared: compare(peer, parseVersion(PROTOCOL_VERSION)) < 0,
  }
  return {
    input: (input) => new Downgrade(era, onLoss).begin('RunAgentInput').input(input, ''),
    events(direction = 'sent') {
      const downgrade = new Downgrade(direction === 'sent' ? era : { ...era, flat: false, undeclared: false }, onLoss)
      if (!era.alone) return (event) => [downgrade.begin(event.type).event(event)]
      const expander = new ChunkExpander()
      const subagents = new SubagentFilter(onLoss)
      return (event) => {
        const given: Event[] = []
        expander.accept(event, (expanded) => {
          if (subagents.passes(expanded)) given.push(downgrade.begin(expanded.type).event(expanded))
        })
        return given
      }
    },
  }
}

/** Keeps from the peer what only subagents can mean: their own events, and steps of one name open under two owners. */
class SubagentFilter {
  readonly #onLoss: (loss: Loss) => void
  /** Open steps by name and owner, and whether the peer was told of them. */
  readonly #steps = new Map<string, Map<string | undefined, 'told' | 'hidden'>>()

  constructor(onLoss: (loss: Loss) => void) {
    this.#onLoss = onLoss
  }

  passes(event: Event): boolean {
    switch (event.type) {
      case 'RUN_STARTED':
        this.#steps.clear()
        return true
      case 'SUBAGENT_STARTED':
      case 'SUBAGENT_FINISHED':
      case 'SUBAGENT_ERROR':
        return this.#lost('subagent-event', event.type)
      case 'STEP_STARTED':
        return this.#start(event)
      case 'STEP_FINISHED':
        return this.#finish(event)
      default:
        return true
    }
  }

  #start({ type, stepName, subagentRunId }: EventOf<'STEP_STARTED'>): boolean {
    const open = this.#steps.get(stepName) ?? new Map<string | undefined, 'told' | 'hidden'>()
    const taken = [...open.values()].includes('told')
    this.#steps.set(stepName, open.set(subagentRunId, taken ? 'hidden' : 'told'))
    return !taken || this.#lost('step', type)
  }

  #finish({ type, stepName, subagentRunId }: EventOf<'STEP_FINISHED'>): boolean {
    const open = this.#steps.get(stepName)
    const known = open?.get(subagentRunId)
    open?.delete(subagentRunId)
    return known !== 'hidden' || this.#lost('step', type)
  }

  #lost(code: Loss['code'], from: EventType): false {
    this.#onLoss({ code, from, pointer: '' })
    return false
  }
}

/** Takes out of one input, or of the events of one stream, what peers of an era cannot read. */
class Downgrade {
  readonly #era: Era
  readonly #onLoss: (loss: Loss) => void
  #from: Loss['from'] = 'RunAgentInput'
  #toldOfTags = false

  constructor(era: Era, onLoss: (loss: Loss) => void) {
    this.#era = era
    this.#onLoss = onLoss
  }

  /** Says what the value in hand is. */
  begin(from: Loss['from']): this {
    this.#from = from
    return this
  }

  event(event: Event): Event {
    const plain = this.#untagged(event, '')
    switch (plain.type) {
      case 'RUN_STARTED': {
        const { input } = plain
        return this.#ofVersion(input === undefined ? plain : withField(plain, 'input', this.input(input, '/input')), '')
      }
      case 'RUN_FINISHED': {
        const { outcome } = plain
        if (outcome?.type !== 'interrupt') return plain
        const interrupts = mapChanged(outcome.interrupts, (interrupt, index) =>
          this.#untagged(interrupt, `/outcome/interrupts/${index}`),
        )
        return withField(plain, 'outcome', withField(outcome, 'interrupts', interrupts as typeof outcome.interrupts))
      }
      case 'MESSAGES_SNAPSHOT':
        return withField(plain, 'messages', this.#messages(plain.messages, '/messages'))
      case 'TOOL_CALL_RESULT':
        return withField(plain, 'content', this.#text(plain.content, '/content'))
      default:
        return plain
    }
  }

  input<Input extends RunAgentInput>(input: Input, path: string): Input {
    return this.#ofVersion(withField(input, 'messages', this.#messages(input.messages, `${path}/messages`)), path)
  }

  /** `protocolVersion` goes in silence: to a peer that does not know the field its absence says the same. */
  #ofVersion<Value extends { protocolVersion?: string; parentRunId?: string }>(value: Value, path: string): Value {
    const undeclared = this.#era.undeclared ? without(value, 'protocolVersion') : value
    if (!this.#era.flat || undeclared.parentRunId === undefined) return undeclared
    this.#lost('parent-run', `${path}/parentRunId`)
    return without(undeclared, 'parentRunId')
  }

  #messages<Item extends Message>(messages: Item[], path: string): Item[] {
    return mapChanged(messages, (message, index) => {
      const plain = this.#untagged(message, `${path}/${index}`)
      if (!this.#era.flat) return plain
      if (plain.role === 'assistant') return plain.content === undefined ? { ...plain, content: '' } : plain
      if (plain.role !== 'user' && plain.role !== 'tool') return plain
      return withField(plain, 'content', this.#text(plain.content, `${path}/${index}/content`))
    })
  }

  #text(content: string | ContentPart[], path: string): string | ContentPart[] {
    if (!this.#era.flat || !Array.isArray(content)) return content
    // A text part without text is malformed; to flatten it would repair it.
    if (content.some((part) => part.type === 'text' && typeof part.text !== 'string')) return content
    return content
      .map((part, index) => {
        if (part.type !== 'text') this.#lost('content-part', `${path}/${index}`)
        else if (part.id !== undefined || part.metadata !== undefined) this.#lost('part-data', `${path}/${index}`)
        return part.type === 'text' ? part.text : ''
      })
      .join('')
  }

  #untagged<Value extends object>(value: Value, path: string): Value {
    if (!this.#era.alone || !Object.hasOwn(value, 'subagentRunId')) return value
    if (!this.#toldOfTags) this.#lost('subagent-tag', `${path}/subagentRunId`)
    this.#toldOfTags = true
    return without(value, 'subagentRunId')
  }

  #lost(code: Loss['code'], pointer: string): void {
    this.#onLoss({ code, from: this.#from, pointer })
  }
}

function without<Value extends object>(value: Value, key: string): Value {
  if (!Object.hasOwn(value, key)) return value
  const copy = { ...value }
  delete (copy as Record<string, unknown>)[key]
  return copy
}

function withField<Value extends object, Key extends keyof Value>(value: Value, key: Key, field: Value[Key]): Value {
  return value[key] === field ? value : { ...value, [key]: field }
}

function mapChanged<Item>(items: Item[], change: (item: Item, index: number) => Item): Item[] {
  const changed = items.map(change)
  return changed.every((item, index) => item === items[index]) ? items : changed
}
