/** A run input from the wire → the run input a server can rely on. */
import { Reporter, type Diagnostic } from '../diagnostics.ts'
import { isObject } from '../json-value.ts'
import { withDefaults, type Limits } from '../limits.ts'
import { Enforcer } from './enforce.ts'
import type { RunAgentInput } from './event.ts'
import { runAgentInput } from './run-input.ts'
import { Upgrader } from './upgrade.ts'

/**
 * A run input as a server receives it: old spellings are upgraded, unknown fields removed, malformed ones refused.
 * @throws ProtocolError `malformed` with the pointer of the offending field.
 */
export function parseRunAgentInput(
  value: unknown,
  options: { onDiagnostic?: (diagnostic: Diagnostic) => void; limits?: Partial<Limits> } = {},
): RunAgentInput {
  const reporter = new Reporter(options.onDiagnostic)
  reporter.type = 'RunAgentInput'
  const upgraded = isObject(value) ? new Upgrader(reporter).upgradeInput(value) : value
  const input = new Enforcer(reporter, withDefaults(options.limits).jsonDepth).enforce(runAgentInput, upgraded)
  // Absent lists are empty ones (AG-UI 1.0, run input).
  return { tools: [], context: [], ...input } as unknown as RunAgentInput
}
