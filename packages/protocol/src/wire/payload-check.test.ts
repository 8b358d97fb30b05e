/** Answers held against schemas: what is refused and where, and that what is not known refuses nothing. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkPayload, type Interrupt } from '../index.ts'

const INTERRUPT: Interrupt = { id: 'i', reason: 'x' }
const check = (schema: object, payload?: unknown): string | undefined => checkPayload(schema as Record<string, unknown>, payload, INTERRUPT)

const decision = (approved: boolean, more: object = {}): object => ({ type: 'object', properties: { approved: { const: approved }, ...more }, required: ['approved'], additionalProperties: false })
const args = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
/** As TanStack AI says it. */
const oneOf = { oneOf: [decision(true, { editedArgs: args }), decision(false)] }
const deep = (depth: number): object => {
  let schema: object = { type: 'string' }
  for (let n = 0; n < depth; n++) schema = { allOf: [schema] }
  return schema
}

describe('checkPayload', () => {
  it.each<[string, object, unknown, string | undefined]>([
    ['anything', {}, 5, undefined],
    ['a type', { type: 'boolean' }, true, undefined],
    ['another type', { type: 'boolean' }, 'yes', '"" has to be of type boolean'],
    ['one of several types', { type: ['string', 'null'] }, null, undefined],
    ['none of several types', { type: ['string', 'null'] }, 1, '"" has to be of type string or null'],
    ['a list is no object', { type: 'object' }, [], '"" has to be of type object'],
    ['null is no object', { type: 'object' }, null, '"" has to be of type object'],
    ['an integer', { type: 'integer' }, 2.0, undefined],
    ['a fraction', { type: 'integer' }, 2.5, '"" has to be of type integer'],
    ['no payload is null', { type: 'null' }, undefined, undefined],
    ['no payload where something is asked', { type: 'object' }, undefined, '"" has to be of type object'],
    ['a type of another world', { type: 'date' }, 1, undefined],
    ['types named after members of Object', { type: 'constructor' }, 1, undefined],
    ['a member of an enum', { enum: ['a', { b: 1 }] }, { b: 1 }, undefined],
    ['no member of an enum', { enum: ['a', 2] }, 'c', '"" has to be one of "a", 2'],
    ['a const', { const: { a: [1] } }, { a: [1] }, undefined],
    ['another const', { const: false }, true, '"" has to be false'],
    ['a const of null', { const: null }, 0, '"" has to be null'],
    ['a member that is missing', args, {}, '"/city" is missing'],
    ['an undefined member is missing', args, { city: undefined }, '"/city" is missing'],
    ['an inherited member is missing', { required: ['toString'] }, {}, '"/toString" is missing'],
    ['a member of another type', args, { city: 5 }, '"/city" has to be of type string'],
    ['a member that is not named', args, { city: 'a', zip: 5 }, undefined],
    ['a member too many', { additionalProperties: false }, { 'a/b~c': 1 }, '"/a~1b~0c" has to be left out'],
    ['a member too many that is undefined', { additionalProperties: false }, { a: undefined }, undefined],
    ['a member that a pattern may mean', { additionalProperties: false, patternProperties: {} }, { a: 1 }, undefined],
    ['other members of one type', { additionalProperties: { type: 'number' } }, { a: 'x' }, '"/a" has to be of type number'],
    ['required of a string', { required: ['a'] }, 'x', undefined],
    ['items', { items: args }, [{ city: 'a' }, { city: 1 }], '"/1/city" has to be of type string'],
    ['items of a string', { items: { type: 'number' } }, 'abc', undefined],
    ['all of', { allOf: [{ type: 'number' }, { enum: [1, 2] }] }, 3, '"" has to be one of 1, 2'],
    ['any of', { anyOf: [{ type: 'number' }, { type: 'string' }] }, 'a', undefined],
    ['none of any', { anyOf: [{ type: 'number' }, { type: 'string' }] }, true, '"" has to be of type number'],
    ['an approval', oneOf, { approved: true }, undefined],
    ['a refusal', oneOf, { approved: false }, undefined],
    ['an approval with edits', oneOf, { approved: true, editedArgs: { city: 'Bern' } }, undefined],
    ['an approval with wrong edits names them', oneOf, { approved: true, editedArgs: { city: 5 } }, '"/editedArgs/city" has to be of type string'],
    ['a refusal with edits', oneOf, { approved: false, editedArgs: { city: 'Bern' } }, '"/approved" has to be true'],
    ['two branches that seem to fit', { oneOf: [{ minimum: 5 }, { maximum: 3 }] }, 7, undefined],
    ['keywords that are not known', { minLength: 9, pattern: '^b', format: 'date', not: {}, if: {}, $ref: '#/x' }, 'a', undefined],
    ['keywords that are not what they should be', { type: 5, enum: 'a', required: 'b', properties: [], items: [1], anyOf: {}, allOf: 1 }, { c: [1] }, undefined],
    ['a boolean schema', { properties: { a: true, b: false } }, { a: 1, b: 1 }, '"/b" has to be left out'],
    ['as deep as is looked', deep(40), 5, '"" has to be of type string'],
    ['deeper than is looked', deep(100_000), 5, undefined],
  ])('%s', (_, schema, payload, wrong) => {
    expect(check(schema, payload)).toBe(wrong)
  })

  it('knows members by their own names only', () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}')
    expect(check(schema, {})).toBe('"/__proto__" is missing')
    expect(check(schema, JSON.parse('{"__proto__":5}'))).toBe('"/__proto__" has to be of type string')
    expect(check({ properties: {} }, { constructor: 1 })).toBeUndefined()
  })

  it('throws on nothing, and a value fits the schema that says it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (schema, value) => {
        check({ const: value, anything: schema } as object, value)
        expect(check({ const: value }, value)).toBeUndefined()
        const found = check(Object(schema) as object, value)
        expect(found === undefined || found.startsWith('"')).toBe(true)
      }),
    )
  })
})
