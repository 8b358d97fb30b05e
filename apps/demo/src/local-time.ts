/** A tool of the page: the agent calls it, the page runs it. What both sides have to agree on; neither trusts the other. */

export const LOCAL_TIME = 'get_local_time'

export interface LocalTime {
  /** As in RFC 3339, such as `2026-06-12T08:30:00Z`. */
  readonly now: string
  /** As in the time zone database, such as `Europe/Lisbon`. */
  readonly timeZone: string
}

/** @returns what the page answered, or undefined if it is something else. */
export function readLocalTime(content: unknown): LocalTime | undefined {
  if (typeof content !== 'string') return undefined
  try {
    const { now, timeZone } = Object(JSON.parse(content)) as Record<string, unknown>
    return typeof now === 'string' && typeof timeZone === 'string' && clockAt(now, timeZone) ? { now, timeZone } : undefined
  } catch {
    return undefined
  }
}

/**
 * @returns hours and minutes
 * @throws RangeError if there is no such time or time zone.
 */
export function clockAt(now: string, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(new Date(now))
}
