/** Which tool calls of a run have no result. It follows verified events and knows no rules. */
import type { VerifiedEvent } from '@millrace/protocol'

export class UnansweredCalls {
  readonly #calls = new Set<string>()

  note(event: VerifiedEvent): void {
    if (event.type === 'TOOL_CALL_START') this.#calls.add(event.toolCallId)
    else if (event.type === 'TOOL_CALL_RESULT') this.#calls.delete(event.toolCallId)
  }

  /** In the order of their start. */
  ids(): string[] {
    return [...this.#calls]
  }
}
