import type { Interrupt, UIMessage } from '@millrace/protocol'
import type { ReactNode } from 'react'
import { useEffect, useRef, useState } from 'react'
import { textOf } from '../parts/text-of.ts'

/** Enough to know what was said; the whole is in the transcript. */
const spokenLength = 400

export interface AnnouncerProps {
  readonly busy: boolean
  readonly lost: boolean
  readonly failed: boolean
  readonly last: UIMessage | undefined
  readonly interrupt: Interrupt | undefined
}

/** Tells screen readers when an answer begins and what it was when it is done, not each token; and of its connection. */
export function Announcer({ busy, lost, failed, last, interrupt }: AnnouncerProps): ReactNode {
  const [said, setSaid] = useState('')
  const wasBusy = useRef(false)
  useEffect(() => {
    if (busy === wasBusy.current) return
    wasBusy.current = busy
    if (busy) setSaid('The agent is answering.')
    else if (interrupt) setSaid(`The agent asks: ${interrupt.message ?? 'it needs your answer.'}`)
    else if (failed) setSaid('')
    else setSaid(last?.role === 'assistant' ? `Answer complete. ${plain(textOf(last))}` : '')
  }, [busy, failed, interrupt, last])
  const wasLost = useRef(false)
  useEffect(() => {
    if (lost === wasLost.current) return
    wasLost.current = lost
    if (busy) setSaid(lost ? 'Connection lost, trying again.' : 'Connected again.')
  }, [lost, busy])
  return (
    <div className="visually-hidden" role="status" aria-live="polite">
      {said}
    </div>
  )
}

/** Markdown without its marks. */
function plain(markdown: string): string {
  const text = markdown.replace(/```[\s\S]*?(?:```|$)/gu, ' code ').replace(/[#*_`>|]|^-{3,}$/gmu, '')
  return text.replace(/\s+/gu, ' ').trim().slice(0, spokenLength)
}
