/**
 * Keeps a run's events coming over connections that break: opens its source again behind the cursor, leaves out what was
 * had, and gives up when nothing new comes. It only carries out: `resumption.ts` decides, `cursor.ts` knows duplicates,
 * `backoff.ts` waits, `link.ts` holds one connection. None of them knows HTTP or sockets.
 */
import { tell } from '../tell.ts'
import type { StreamChunk } from './adapter.ts'
import { Backoff, type ReconnectInfo, type ReconnectOptions } from './backoff.ts'
import { Idle } from './idle.ts'
import { Link } from './link.ts'
import { Resumption, type End, type ResumptionOptions } from './resumption.ts'
import type { RunSource } from './run-source.ts'

export interface ResumeOptions extends ResumptionOptions {
  /** Ends everything at once, without error. */
  readonly signal?: AbortSignal | undefined
  readonly reconnect?: ReconnectOptions
  readonly onReconnect?: (info: ReconnectInfo) => void
  /** Told when the first event has come, whether the other side has shown by then that it keeps runs; and when it does later. */
  readonly onHeard?: (kept: boolean) => void
  /** Told once if different events come with one id: ids say nothing then, and are not gone by. */
  readonly onRepeatedIds?: () => void
}

/**
 * The events of a run, each once, over as many connections as it takes. Done means that the source ended cleanly, or said
 * `[DONE]`, and its last run has a terminal event.
 * @throws StreamTruncatedError if the run stays open and cannot be resumed, with `attempts`. TransportError,
 *   ProtocolError: what else ended the first connection, or ended a later one after it had brought something new.
 */
export async function* resumable(source: RunSource, options: ResumeOptions): AsyncGenerator<readonly StreamChunk[], void, undefined> {
  const { signal, onReconnect } = options
  const backoff = new Backoff(options.reconnect)
  const idle = new Idle(options.reconnect?.idleMs)
  const run = new Resumption(source.reopen, backoff.maxAttempts, options)
  let warned = false
  let kept: boolean | undefined
  while (!signal?.aborted) {
    const link = new Link(signal, idle, backoff.clock, options.url)
    let end: End = { how: 'clean' }
    try {
      const opened = await link.open(source, run.position)
      if (opened === undefined) return
      run.opened(opened)
      for (let batch = await link.next(run.resumable); batch !== undefined; batch = await link.next(run.resumable)) {
        const chunks = run.take(batch)
        if (chunks.length > 0 && kept !== run.kept) {
          kept = run.kept
          options.onHeard?.(kept)
        }
        backoff.asked(opened.retryMs?.())
        if (run.idsRepeat && !warned) {
          warned = true
          tell(options.onRepeatedIds)
        }
        if (chunks.length > 0) {
          backoff.progressed()
          yield chunks
        }
        if (run.saidDone) break
      }
    } catch (error) {
      end = { how: 'failed', error }
    } finally {
      link.close()
    }
    if (signal?.aborted) return
    const verdict = run.judge(end)
    if (verdict.next === 'retry') {
      const delayMs = backoff.delay(run.attempts, verdict.askedMs)
      tell(onReconnect, { attempt: run.attempts, delayMs, error: verdict.error })
      await backoff.wait(delayMs, signal, verdict.askedMs === 0)
      continue
    }
    const held = run.takeHeld()
    if (held.length > 0) yield held
    if (verdict.next === 'give') yield [verdict.chunk]
    if (verdict.next === 'throw') throw verdict.error
    return
  }
}
