import type { ReactNode } from 'react'
import type { TripState } from '../../src/trip.ts'
import { spent } from '../../src/trip.ts'
import { Icon } from '../icons.tsx'

export interface TripViewProps {
  readonly trip: TripState
  readonly changed: ReadonlySet<string>
}

/** The trip as a person would keep it: where, what it costs, what is left to do. */
export function TripView({ trip: state, changed }: TripViewProps): ReactNode {
  const { trip, budget, checklist } = state
  const total = spent(state)
  const over = total > budget.limit
  const share = budget.limit > 0 ? Math.min(1, Math.max(0, total / budget.limit)) : 1
  const money = new Intl.NumberFormat('en', { style: 'currency', currency: currencyOf(budget.currency), maximumFractionDigits: 0 })
  const mark = (path: string): true | undefined => changed.has(path) || undefined
  return (
    <div className="trip">
      <p className="trip-head">
        <strong>{trip.city}</strong>
        <span>
          {trip.dates}, {trip.travellers} {trip.travellers === 1 ? 'traveller' : 'travellers'}
        </span>
      </p>
      <div className="budget">
        <p className="budget-sum">
          <span>
            <b>{money.format(total)}</b> of <span data-changed={mark('/budget/limit')}>{money.format(budget.limit)}</span>
          </span>
          <span className={over ? 'over' : undefined}>
            {money.format(Math.abs(budget.limit - total))} {over ? 'over' : 'left'}
          </span>
        </p>
        <div
          className="bar"
          role="meter"
          aria-label="Budget spent"
          aria-valuemin={0}
          aria-valuemax={budget.limit}
          aria-valuenow={Math.min(total, budget.limit)}
          aria-valuetext={`${money.format(total)} of ${money.format(budget.limit)}`}
          data-over={over || undefined}
        >
          <div style={{ width: `${share * 100}%` }} />
        </div>
        <ul className="budget-items">
          {budget.items.map(({ label, amount }, index) => (
            <li key={index} data-changed={mark(`/budget/items/${index}`)}>
              <span>{label}</span>
              <span>{money.format(amount)}</span>
            </li>
          ))}
        </ul>
      </div>
      <ul className="checklist">
        {checklist.map(({ label, done }, index) => (
          <li
            key={index}
            data-done={done || undefined}
            data-changed={mark(`/checklist/${index}/done`) ?? mark(`/checklist/${index}`)}
          >
            <span className="tick" aria-hidden="true">
              {done && <Icon name="check" />}
            </span>
            <span>{label}</span>
            <span className="visually-hidden">{done ? 'done' : 'to do'}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The state comes over the wire; a code that `Intl` does not take must not break the page. */
function currencyOf(code: string): string {
  return /^[A-Z]{3}$/u.test(code) ? code : 'EUR'
}
