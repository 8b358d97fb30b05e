/**
 * A network that can be made to fail: `cut` closes what goes through it and lets nothing through for a while. It knows no
 * runs; that they go on all the same is what it is there to show.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Long enough to be seen, and to need more than one attempt. */
const outageMs = 1500

export class Outage {
  readonly #open = new Set<IncomingMessage>()
  #over = 0

  /** Whether the request gets through; if not, its connection is closed without a word. */
  admits(request: IncomingMessage, response: ServerResponse): boolean {
    if (performance.now() < this.#over) {
      request.socket.destroy()
      return false
    }
    this.#open.add(request)
    response.once('close', () => this.#open.delete(request))
    return true
  }

  cut(): void {
    this.#over = performance.now() + outageMs
    for (const { socket } of this.#open) socket.destroy()
  }
}
