/** A plan shown as an activity: a snapshot opens it, patches tick its steps. The page reads it with `readPlan`. */

export const PLAN = 'PLAN'

const statuses = ['pending', 'active', 'waiting', 'done', 'skipped'] as const
export type PlanStatus = (typeof statuses)[number]

export interface PlanStep {
  readonly label: string
  readonly status: PlanStatus
}

export interface Plan {
  readonly title: string
  readonly steps: readonly PlanStep[]
}

/** @param labels the steps, all still to do */
export function newPlan(title: string, labels: readonly string[]): Plan {
  return { title, steps: labels.map((label) => ({ label, status: 'pending' })) }
}

/** The patch that sets the status of steps, given as [index, status]. */
export function progress(
  ...changes: readonly (readonly [number, PlanStatus])[]
): { op: 'replace'; path: string; value: PlanStatus }[] {
  return changes.map(([index, value]) => ({ op: 'replace', path: `/steps/${index}/status`, value }))
}

/** @returns the content of an activity as a plan, or undefined if it is something else. */
export function readPlan(content: Readonly<Record<string, unknown>>): Plan | undefined {
  const { title, steps } = content
  if (typeof title !== 'string' || !Array.isArray(steps)) return undefined
  return steps.every(isStep) ? { title, steps } : undefined
}

function isStep(value: unknown): value is PlanStep {
  if (typeof value !== 'object' || value === null) return false
  const { label, status } = value as { label?: unknown; status?: unknown }
  return typeof label === 'string' && statuses.some((known) => known === status)
}
