/** The shared state of the demo: a trip. The agent moves it, the page draws it; neither trusts the other's copy. */

export interface BudgetItem {
  readonly label: string
  readonly amount: number
}

export interface ChecklistItem {
  readonly label: string
  readonly done: boolean
}

export interface TripState {
  readonly trip: { readonly city: string; readonly dates: string; readonly travellers: number }
  readonly budget: { readonly currency: string; readonly limit: number; readonly items: readonly BudgetItem[] }
  readonly checklist: readonly ChecklistItem[]
}

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isAmount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

function isBudgetItem(value: unknown): value is BudgetItem {
  return isObject(value) && typeof value['label'] === 'string' && isAmount(value['amount'])
}

function isChecklistItem(value: unknown): value is ChecklistItem {
  return isObject(value) && typeof value['label'] === 'string' && typeof value['done'] === 'boolean'
}

function isTripState(value: unknown): value is TripState {
  if (!isObject(value)) return false
  const { trip, budget, checklist } = value
  return (
    isObject(trip) &&
    typeof trip['city'] === 'string' &&
    typeof trip['dates'] === 'string' &&
    isAmount(trip['travellers']) &&
    isObject(budget) &&
    typeof budget['currency'] === 'string' &&
    isAmount(budget['limit']) &&
    Array.isArray(budget['items']) &&
    budget['items'].every(isBudgetItem) &&
    Array.isArray(checklist) &&
    checklist.every(isChecklistItem)
  )
}

/** @returns the state as a trip (same object), or undefined if it is something else. */
export function readTrip(state: unknown): TripState | undefined {
  return isTripState(state) ? state : undefined
}

export function spent(trip: TripState): number {
  return trip.budget.items.reduce((sum, item) => sum + item.amount, 0)
}

export function newTrip(limit = 600): TripState {
  return {
    trip: { city: 'Lisbon', dates: '12 – 14 June', travellers: 2 },
    budget: { currency: 'EUR', limit, items: [] },
    checklist: [
      { label: 'Compare the weather', done: false },
      { label: 'Choose the trains', done: false },
      { label: 'Sketch the days', done: false },
      { label: 'Hold a room', done: false },
    ],
  }
}
