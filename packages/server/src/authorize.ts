/** Who may do what: the question put to the application, and its answer. Knows no HTTP status. */
import type { RunAgentInput } from '@millrace/protocol'
import type { Logger } from './logger.ts'

/**
 * What a request asks for. `join` reads a run from its start, `resume` from a cursor on. `threadId` is absent if no such
 * run is known; then the answer decides whether the client may learn that.
 */
export type Asked =
  | { readonly action: 'run'; readonly threadId: string; readonly runId: string; readonly input: RunAgentInput }
  | { readonly action: 'join' | 'resume' | 'cancel'; readonly threadId?: string; readonly runId: string }
  | { readonly action: 'hydrate'; readonly threadId: string }

/**
 * Says whether a request may do what it asks: true, false (403), or a response of its own (401 with a challenge, say), given
 * or thrown. Anything else that is thrown refuses too, as a fault (500, logged).
 *
 * Ids are not secrets: whoever may run or read a thread must be looked up here. A runId that was accepted before is
 * asked about twice, as `run` and as `join`.
 */
export type Authorize = (request: Request, asked: Asked) => boolean | Response | Promise<boolean | Response>

export type Verdict = 'allowed' | 'denied' | 'failed' | Response

export async function ask(authorize: Authorize, request: Request, asked: Asked, logger: Logger): Promise<Verdict> {
  try {
    const answer = await authorize(request, asked)
    if (answer instanceof Response) return answer
    // Only true allows: a forgotten return must not.
    return answer === true ? 'allowed' : 'denied'
  } catch (error) {
    if (error instanceof Response) return error
    logger.error('authorize failed', { action: asked.action, error })
    return 'failed'
  }
}
