import { StreamTruncatedError, TransportError } from '@millrace/client'
import { expect, it } from 'vitest'
import { isRefusal, mayPass, retryAfterMs, unanswered } from './retry.ts'

const now = Date.parse('2026-01-02T03:04:05Z')

it.each([
  ['0', 0],
  ['120', 120_000],
  [' 5 ', 5_000],
  ['Fri, 02 Jan 2026 03:04:35 GMT', 30_000],
  ['Friday, 02-Jan-26 03:04:35 GMT', 30_000],
  ['Fri Jan  2 03:04:35 2026 GMT', 30_000],
  ['Fri, 02 Jan 2026 03:00:00 GMT', 0],
  [null, undefined],
  ['', undefined],
  ['-5', undefined],
  ['1.5', undefined],
  ['1e3', undefined],
  ['soon', undefined],
  ['2026', 2_026_000],
  ['never, 99', undefined],
])('Retry-After: %s is %s', (header, expected) => {
  expect(retryAfterMs(header, now)).toBe(expected)
})

it('tells what may pass, what is refused and what was not answered', () => {
  const http = (status: number) => new TransportError('', { code: 'http-status', status })
  const of = (error: unknown) => [mayPass(error), isRefusal(error), unanswered(error)]
  expect(of(new StreamTruncatedError(''))).toEqual([true, false, true])
  expect(of(new TransportError('', { code: 'network' }))).toEqual([true, false, true])
  for (const status of [408, 425, 429, 500, 503, 599]) expect(of(http(status))).toEqual([true, false, false])
  for (const status of [502, 504]) expect(of(http(status))).toEqual([true, false, true])
  for (const status of [301, 400, 401, 403, 404, 405, 409, 410, 422, 451]) expect(of(http(status))).toEqual([false, true, false])
  expect(of(new TransportError('', { code: 'content-type', status: 200 }))).toEqual([false, true, false])
  expect(of(new TransportError('', { code: 'aborted' }))).toEqual([false, false, false])
  expect(of(new Error('x'))).toEqual([false, false, false])
})
