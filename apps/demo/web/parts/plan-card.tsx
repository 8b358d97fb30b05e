import type { ActivityPart } from '@millrace/protocol'
import { memo, useId } from 'react'
import type { PlanStatus } from '../../src/plan-activity.ts'
import { PLAN, readPlan } from '../../src/plan-activity.ts'
import { Icon } from '../icons.tsx'
import { jsonText } from '../json-text.ts'

const spoken: Record<PlanStatus, string> = {
  pending: 'to do',
  active: 'under way',
  waiting: 'waiting for you',
  done: 'done',
  skipped: 'skipped',
}

/** An activity: plans as a list with progress, anything else as JSON. */
export const Activity = memo(function Activity({ part, live }: { part: ActivityPart; live: boolean }) {
  const title = useId()
  const plan = part.activityType === PLAN ? readPlan(part.content) : undefined
  if (plan === undefined) {
    return (
      <section className="plan-card" aria-label={`Activity ${part.activityType}`}>
        <pre>{jsonText(part.content)}</pre>
      </section>
    )
  }
  const finished = plan.steps.filter(({ status }) => status === 'done' || status === 'skipped').length
  return (
    <section className="plan-card" aria-labelledby={title} data-live={live || undefined}>
      <header>
        <h3 id={title}>{plan.title}</h3>
        <span className="plan-count">
          {finished} of {plan.steps.length}
        </span>
      </header>
      <progress max={plan.steps.length} value={finished} aria-labelledby={title} />
      <ol>
        {plan.steps.map(({ label, status }, index) => (
          <li key={index} data-status={status}>
            <span className="tick" aria-hidden="true">
              {status === 'done' && <Icon name="check" />}
            </span>
            <span>{label}</span>
            <span className={status === 'waiting' || status === 'skipped' ? 'plan-note' : 'visually-hidden'}>
              {spoken[status]}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
})
