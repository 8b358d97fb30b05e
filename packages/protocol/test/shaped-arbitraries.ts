/**
 * Random events made from the shapes themselves (`src/events/catalogue.ts`): every type, every optional field, every
 * member of every union, at every depth. What is in a shape is tested without being named here.
 */
import fc from 'fast-check'
import { anyEvent as shapes } from '../src/events/catalogue.ts'
import type { ObjectShape, Shape } from '../src/events/shape.ts'
import type { Event, EventType } from '../src/index.ts'

const text = fc.oneof(fc.string({ maxLength: 6, unit: 'binary' }), fc.constantFrom('', 'a', 'é', '👋', '\n', '\0', '\uFEFFa', 'x'.repeat(130)))
const key = fc.oneof({ weight: 4, arbitrary: text }, { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', 'toString', '0', '10') })
const number = fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true })).map((value) => (value === 0 ? 0 : value))

/** Any JSON, with keys that only careless code minds. */
export const json: fc.Arbitrary<unknown> = fc.letrec<{ any: unknown; object: object }>((tie) => ({
  any: fc.oneof({ maxDepth: 3, depthSize: 'small' }, fc.constant(null), fc.boolean(), number, text, fc.array(tie('any'), { maxLength: 3 }), tie('object')),
  // Through text, so that a key __proto__ is a member like any other.
  object: fc.uniqueArray(fc.tuple(key, tie('any')), { maxLength: 3, selector: ([name]) => name }).map((entries) => JSON.parse(`{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`) as object),
})).any
const record = json.map((value) => (typeof value === 'object' && value !== null && !Array.isArray(value) ? value : JSON.parse(`{"v":${JSON.stringify(value)}}`) as object))
const pointer = fc.array(fc.constantFrom('a', '0', '-', '~0~1', 'é', '__proto__'), { maxLength: 3 }).map((tokens) => tokens.map((token) => `/${token}`).join(''))

/** What has the shape; `full`: with every optional field, and something in every list. */
export function ofShape(shape: Shape, full: boolean): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case 'string':
      return text
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return shape.min === 0 ? fc.maxSafeNat() : fc.oneof(fc.constantFrom(0, -1, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER), fc.maxSafeInteger())
    case 'pointer':
      return pointer
    case 'json':
      return json
    case 'value':
      return json.filter((value) => value !== null)
    case 'record':
      return record
    case 'literal':
      return fc.constant(shape.value)
    case 'oneOf':
      return fc.constantFrom(...shape.values)
    case 'list':
      return fc.array(ofShape(shape.of, full), { minLength: Math.max(shape.min, full ? 1 : 0), maxLength: 3 })
    case 'stringOr':
      return fc.oneof(text, ofShape(shape.list, full))
    case 'object':
      return ofObject(shape, full)
    case 'union':
      return fc.oneof(...[...shape.members].map(([tag, member]) => ofObject(member, full).map((value) => ({ ...value, [shape.tag]: tag }))))
  }
}

function ofObject({ fields, required }: ObjectShape, full: boolean): fc.Arbitrary<object> {
  const each = Object.fromEntries([...fields].map(([name, { shape }]) => [name, ofShape(shape, full)]))
  return fc.record(each, { requiredKeys: full ? [...fields.keys()] : [...required], noNullPrototype: true })
}

export const EVENT_TYPES: readonly EventType[] = [...shapes.members.keys()] as EventType[]

/** A well-formed event of a type. */
export function eventOf(type: EventType, full = false): fc.Arbitrary<Event> {
  return ofObject(shapes.members.get(type) as ObjectShape, full).map((event) => ({ ...event, type }) as Event)
}

/** A well-formed event of any type. */
export const shapedEvent: fc.Arbitrary<Event> = fc.oneof(...EVENT_TYPES.map((type) => eventOf(type)))
