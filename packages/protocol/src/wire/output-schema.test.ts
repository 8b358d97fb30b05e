import { describe, expect, it } from 'vitest'
import { outputSchemaOf, withOutputSchema } from '../index.ts'

const schema = { type: 'object' }

describe('the JSON Schema of an answer', () => {
  it('stands in the forwarded properties, beside and behind what is there', () => {
    expect(withOutputSchema(undefined, schema)).toEqual({ outputSchema: schema })
    expect(withOutputSchema({ a: 1 }, schema)).toEqual({ a: 1, outputSchema: schema })
    expect(withOutputSchema({ outputSchema: null }, schema)).toEqual({ outputSchema: null })
  })

  it('is read from a run input', () => {
    expect(outputSchemaOf({ forwardedProps: withOutputSchema({}, schema) })).toBe(schema)
  })

  it.each([[undefined], [null], ['x'], [[]], [{}], [{ outputSchema: null }], [{ outputSchema: 'object' }], [{ outputSchema: [] }], [Object.create({ outputSchema: schema })]])(
    'is not in %j',
    (forwardedProps) => {
      expect(outputSchemaOf({ forwardedProps })).toBeUndefined()
    },
  )
})
