import { describe, expect, test } from 'vitest'
import { answerText, fieldsOf, initialValues, payloadOf } from './answer-schema.ts'

const schema = {
  type: 'object',
  properties: {
    room: { title: 'Room', oneOf: [{ const: 'a', title: 'Room A', description: 'small' }, { const: 'b' }], default: 'a' },
    size: { enum: ['s', 'm'] },
    breakfast: { title: 'With breakfast', type: 'boolean', default: true },
    nights: { type: 'integer', minimum: 1, maximum: 7 },
    note: { type: 'string', maxLength: 10 },
    nested: { type: 'object' },
  },
  required: ['room'],
}

describe('a response schema', () => {
  const fields = fieldsOf(schema)

  test('gives a field for each property that a form can ask for', () => {
    expect(fields).toEqual([
      {
        name: 'room',
        label: 'Room',
        required: true,
        kind: 'choice',
        choices: [{ value: 'a', label: 'Room A', hint: 'small' }, { value: 'b', label: 'b' }],
        initial: 'a',
      },
      { name: 'size', label: 'size', required: false, kind: 'choice', choices: [{ value: 's', label: 's' }, { value: 'm', label: 'm' }], initial: '' },
      { name: 'breakfast', label: 'With breakfast', required: false, kind: 'yes-no', initial: true },
      { name: 'nights', label: 'nights', required: false, kind: 'number', min: 1, max: 7, initial: '' },
      { name: 'note', label: 'note', required: false, kind: 'text', maxLength: 10, initial: '' },
    ])
  })

  test('gives a payload of what was filled in', () => {
    expect(payloadOf(fields, initialValues(fields))).toEqual({ room: 'a', breakfast: true })
    const values = { room: 'b', size: 'm', breakfast: false, nights: '2', note: ' hi ' }
    expect(payloadOf(fields, values)).toEqual({ room: 'b', size: 'm', breakfast: false, nights: 2, note: 'hi' })
    expect(answerText(fields, values)).toBe('b · m · 2 · hi')
    expect(answerText(fields, initialValues(fields))).toBe('Room A · with breakfast')
  })

  test.each([undefined, null, 'text', [], {}, { properties: null }, { properties: { a: null, b: 1 } }])('of %o asks for nothing', (odd) => {
    expect(fieldsOf(odd)).toEqual([])
    expect(answerText([], {})).toBe('Yes')
  })

  test('is bounded', () => {
    const properties = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, { type: 'string' }]))
    expect(fieldsOf({ properties }).length).toBe(12)
  })
})
