/** Calls what the user gave to be called. What it throws is the user's to see and never ends a turn. */
import type { Diagnostic } from '@millrace/protocol'
import type { ChatClientSettings } from './options.ts'

type CallbackName = 'onToolCall' | 'onFinish' | 'onError' | 'onEvent' | 'onDiagnostic'

export class Callbacks {
  /** Asked at each call: settings change while a turn runs. */
  readonly #settings: () => ChatClientSettings
  /** Rules that were logged: a deviating server breaks the same one at every event. */
  readonly #logged = new Set<string>()

  constructor(settings: () => ChatClientSettings) {
    this.#settings = settings
  }

  call<Name extends CallbackName>(name: Name, ...args: Parameters<NonNullable<ChatClientSettings[Name]>>): void {
    const callback = this.#settings()[name] as ((...args: unknown[]) => unknown) | undefined
    try {
      const given = callback?.(...args)
      if (given instanceof Promise) given.catch((error: unknown) => this.report(`${name} threw.`, error))
    } catch (error) {
      this.report(`${name} threw.`, error)
    }
  }

  diagnostic(diagnostic: Diagnostic): void {
    const { rule, severity, message } = diagnostic
    if (severity !== 'info' && !this.#logged.has(rule)) {
      this.#logged.add(rule)
      this.#log('warn', `${rule}: ${message}`, diagnostic)
    }
    this.call('onDiagnostic', diagnostic)
  }

  /** What happened that ends nothing; it is told to the logger, if there is one. */
  log(message: string, error: unknown): void {
    this.#log('warn', message, error)
  }

  report(message: string, error: unknown): void {
    if (this.#settings().logger !== undefined) return this.#log('error', message, error)
    // Without a logger the runtime is told, as of any listener that throws.
    queueMicrotask(() => {
      throw error
    })
  }

  #log(level: 'warn' | 'error', message: string, data: unknown): void {
    try {
      this.#settings().logger?.[level](message, data)
    } catch {
      // The logger is whom we tell of failures; when it fails itself, there is nobody left, and the turn goes on.
    }
  }
}
