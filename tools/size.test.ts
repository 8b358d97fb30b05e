import { expect, test } from 'vitest'
import { entries, sizeOf } from './size.mjs'

test.each(entries)('$name weighs at most $ceiling bytes', async (entry) => {
  const { gzip } = await sizeOf(entry)
  expect(gzip).toBeGreaterThan(500)
  expect(gzip).toBeLessThanOrEqual(entry.ceiling)
})
