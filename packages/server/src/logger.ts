/** Where the server says what must not go over the wire. Silent unless the application passes one. */

/** `console` is one, and so are pino's and winston's loggers behind a two-line wrapper. */
export interface Logger {
  warn(message: string, data?: Record<string, unknown>): void
  error(message: string, data?: Record<string, unknown>): void
}

export const silentLogger: Logger = { warn: () => undefined, error: () => undefined }

/** A logger that fails must not take a run with it. */
export function guarded(logger: Logger): Logger {
  const guard =
    (level: 'warn' | 'error') =>
    (message: string, data?: Record<string, unknown>): void => {
      try {
        logger[level](message, data)
      } catch {
        // Nowhere left to say it.
      }
    }
  return { warn: guard('warn'), error: guard('error') }
}
