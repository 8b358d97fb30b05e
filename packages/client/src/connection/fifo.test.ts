/** A queue gives what was put in, in its order, whatever is done between. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Fifo } from './fifo.ts'

const step = fc.oneof(
  { weight: 3, arbitrary: fc.nat(9).map((value) => ({ push: value })) },
  { weight: 2, arbitrary: fc.constant('shift' as const) },
  { weight: 1, arbitrary: fc.nat(9).map((value) => ({ without: value })) },
)

it('is as an array', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const fifo = new Fifo<number>()
      let model: number[] = []
      for (const each of steps) {
        if (each === 'shift') {
          fifo.shift()
          model.shift()
        } else if ('push' in each) {
          fifo.push(each.push)
          model.push(each.push)
        } else {
          fifo.keep((value) => value !== each.without)
          model = model.filter((value) => value !== each.without)
        }
        expect([fifo.first, fifo.empty]).toEqual([model[0], model.length === 0])
      }
    }),
  )
})
