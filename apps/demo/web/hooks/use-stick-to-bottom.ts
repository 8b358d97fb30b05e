import type { RefCallback } from 'react'
import { useCallback, useLayoutEffect, useRef, useState } from 'react'

/** Pixels from the end that still count as the end. */
const slack = 40

export interface StickToBottom {
  readonly scroller: RefCallback<HTMLElement>
  readonly content: RefCallback<HTMLElement>
  /** False while the reader is elsewhere. */
  readonly stuck: boolean
  readonly jump: () => void
}

/**
 * Keeps a scroller at its end while its content grows, until the reader scrolls up; scrolling back to the end, or
 * `jump`, takes it up again. Only an upward move lets go: growth alone never does.
 * @param active false leaves the scroller alone
 */
export function useStickToBottom(active = true): StickToBottom {
  const element = useRef<HTMLElement | null>(null)
  const stuckRef = useRef(true)
  const activeRef = useRef(active)
  useLayoutEffect(() => {
    activeRef.current = active
  }, [active])
  const lastTop = useRef(0)
  const [stuck, setStuck] = useState(true)

  const stick = useCallback((value: boolean) => {
    stuckRef.current = value
    setStuck(value)
  }, [])

  const toEnd = useCallback(() => {
    const { current } = element
    if (current === null || !stuckRef.current || !activeRef.current) return
    current.scrollTop = current.scrollHeight
    lastTop.current = current.scrollTop
  }, [])

  const scroller = useCallback<RefCallback<HTMLElement>>(
    (node) => {
      if (node === null) return
      element.current = node
      const onScroll = (): void => {
        const { scrollTop, scrollHeight, clientHeight } = node
        const atEnd = scrollHeight - scrollTop - clientHeight <= slack
        if (atEnd) stick(true)
        else if (scrollTop < lastTop.current && activeRef.current) stick(false)
        lastTop.current = scrollTop
      }
      node.addEventListener('scroll', onScroll, { passive: true })
      const observer = new ResizeObserver(toEnd)
      observer.observe(node)
      return () => {
        node.removeEventListener('scroll', onScroll)
        observer.disconnect()
        element.current = null
      }
    },
    [stick, toEnd],
  )

  const content = useCallback<RefCallback<HTMLElement>>(
    (node) => {
      if (node === null) return
      const observer = new ResizeObserver(toEnd)
      observer.observe(node)
      return () => observer.disconnect()
    },
    [toEnd],
  )

  const jump = useCallback(() => {
    stick(true)
    toEnd()
  }, [stick, toEnd])

  return { scroller, content, stuck, jump }
}
