/** Every bound of this package but the logs' own (`log/memory.ts`), with its reason. All can be set. */

export interface ServerLimits {
  /** Bytes of a request body. A run input carries the whole history, media included, and is held in memory. */
  readonly bodyBytes: number
  /** Readers of one run at a time. Each holds a socket and a place in the log. */
  readonly subscribersPerRun: number
  /** Runs produced by this handler at a time. A run outlives its request, so requests alone do not bound them. */
  readonly activeRuns: number
  /** Milliseconds a run may take. An agent that waits for something that never comes would stay forever. */
  readonly runMs: number
  /** Events that may wait for the log before the agent is made to wait. Also the largest batch appended. */
  readonly queuedEvents: number
  /** Events a reader takes from the log at a time. Bounds what a slow reader holds in memory. */
  readonly readEvents: number
}

/** 8 MiB, 64 readers, 1,000 runs, one hour, 64 and 256 events. */
export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  bodyBytes: 8 * 1024 * 1024,
  subscribersPerRun: 64,
  activeRuns: 1_000,
  runMs: 60 * 60 * 1000,
  queuedEvents: 64,
  readEvents: 256,
}
