import type { ThinkingPart } from '@millrace/protocol'
import { memo, useEffect, useId, useRef, useState } from 'react'
import { Icon } from '../icons.tsx'

/** Open while the agent thinks, closed when it has, unless the reader said otherwise. */
export const Reasoning = memo(function Reasoning({ part, live }: { part: ThinkingPart; live: boolean }) {
  const thinking = live && part.state === 'streaming'
  const [chosen, setChosen] = useState<boolean>()
  const seconds = useElapsed(thinking)
  const body = useId()
  const open = chosen ?? thinking
  return (
    <section className="reasoning" data-thinking={thinking || undefined}>
      <button
        type="button"
        className="disclosure"
        aria-expanded={open}
        aria-controls={body}
        onClick={() => setChosen(!open)}
      >
        <Icon name="chevron" />
        <span className="disclosure-label">
          {thinking ? 'Thinking' : seconds === undefined ? 'Thoughts' : `Thought for ${seconds} s`}
        </span>
      </button>
      <div id={body} className="reasoning-text" hidden={!open}>
        {part.content}
      </div>
    </section>
  )
})

/** @returns whole seconds that `running` lasted once it is over; undefined if it was never seen running. */
function useElapsed(running: boolean): number | undefined {
  const start = useRef<number>(undefined)
  const [seconds, setSeconds] = useState<number>()
  useEffect(() => {
    if (running) start.current = performance.now()
    else if (start.current !== undefined) {
      setSeconds(Math.max(1, Math.round((performance.now() - start.current) / 1000)))
    }
  }, [running])
  return seconds
}
