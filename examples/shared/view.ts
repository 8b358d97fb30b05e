/** What all pages say, whatever they are made with. It knows no framework. */
import type { InterruptAnswer } from '@millrace/client'
import type { Interrupt, ToolCallPart } from '@millrace/protocol'

export const suggestions = ['Compare the weather', 'Book a room', 'Tell me a long story', 'Fail half way'] as const

export const toolLabels: Readonly<Record<ToolCallPart['state'], string>> = {
  'awaiting-input': 'Writing arguments',
  'input-streaming': 'Writing arguments',
  'input-complete': 'Running',
  'approval-requested': 'Waiting for you',
  'approval-responded': 'Running',
  complete: 'Done',
  error: 'Failed',
}

/** What a tool gave, as text; undefined until there is something. */
export function resultText({ result, output }: ToolCallPart): string | undefined {
  if (result === undefined) return undefined
  return result.error ?? (typeof output === 'string' ? output : JSON.stringify(output, null, 2))
}

export interface Choice {
  readonly label: string
  readonly answer: InterruptAnswer
}

/** A button for each answer that a question offers: the choices of its first field that has some, or yes; and no. */
export function choicesOf({ responseSchema }: Interrupt): Choice[] {
  const properties = Object.entries((responseSchema?.['properties'] ?? {}) as Record<string, { oneOf?: { const: unknown; title: string }[] }>)
  const [name, field] = properties.find(([, { oneOf }]) => oneOf !== undefined) ?? []
  const offered = (field?.oneOf ?? []).map(
    ({ const: value, title }): Choice => ({ label: title, answer: { status: 'resolved', payload: { [name as string]: value } } }),
  )
  const yes: Choice = { label: 'Approve', answer: { status: 'resolved', payload: { approved: true } } }
  return [...(offered.length > 0 ? offered : [yes]), { label: 'Not now', answer: { status: 'cancelled' } }]
}

/** What `respond()` says in a tab when another one was quicker is no failure: it shows here what came of it. */
export function unlessAnswered(error: { readonly code?: string }): void {
  if (error.code !== 'answered-elsewhere') throw error
}
