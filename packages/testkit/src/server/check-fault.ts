/** A fault that cannot be is our caller's mistake: it is said at once, where a number would make a test hang or mean nothing. */
import { UsageError } from '@millrace/protocol'
import type { Fault } from './fault.ts'

/** @throws UsageError `testkit.fault` */
export function checkFault(fault: Fault): void {
  const { ending, chop, heartbeat, replay, answer, retryMs, lengthOff } = fault
  if (typeof chop === 'object') {
    need(isCount(chop.size) && chop.size > 0, 'chop.size', 'a whole number above 0')
    need(chop.everyMs === undefined || chop.everyMs >= 0, 'chop.everyMs', 'a number of milliseconds')
  }
  if (heartbeat !== undefined) need(isCount(heartbeat.every) && heartbeat.every > 0, 'heartbeat.every', 'a whole number above 0')
  if (typeof replay === 'object') need(isCount(replay.overlap), 'replay.overlap', 'a whole number')
  if (typeof answer === 'object') need(isFinal(answer.status), 'answer.status', 'a final HTTP status')
  if (retryMs !== undefined) need(isCount(retryMs), 'retryMs', 'a whole number')
  if (lengthOff !== undefined) need(Number.isInteger(lengthOff), 'lengthOff', 'a whole number')
  if (ending === undefined) return
  const { at, how } = ending
  if ('event' in at) need(Number.isInteger(at.event), 'ending.at.event', 'a whole number')
  else if ('byte' in at) need(isCount(at.byte), 'ending.at.byte', 'a whole number')
  else need(isCount(at.head), 'ending.at.head', 'a whole number')
  if (typeof how === 'object') need(isCloseCode(how.close), 'ending.how.close', 'a close code of RFC 6455')
}

const isCount = (value: number): boolean => Number.isInteger(value) && value >= 0

const isFinal = (status: number): boolean => Number.isInteger(status) && status >= 200 && status < 600

/** RFC 6455 §7.4: 1004 has no meaning, 1015 cannot be told; below 3000 there are no others. */
const isCloseCode = (code: number): boolean =>
  Number.isInteger(code) && ((code >= 1000 && code <= 1014 && code !== 1004) || (code >= 3000 && code <= 4999))

function need(holds: boolean, member: string, what: string): void {
  if (!holds) throw new UsageError('testkit.fault', `${member} of a fault has to be ${what}.`)
}
