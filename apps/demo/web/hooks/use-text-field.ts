import type { KeyboardEvent, RefObject } from 'react'
import { useLayoutEffect, useRef } from 'react'

/** @returns the ref of a field that grows with its text, up to the maximum that the style sheet sets. */
export function useAutosize(text: string): RefObject<HTMLTextAreaElement | null> {
  const field = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => {
    const { current } = field
    if (current === null) return
    current.style.height = 'auto'
    current.style.height = `${current.scrollHeight}px`
  }, [text])
  return field
}

/** Enter sends, Shift+Enter starts a line, Escape leaves. */
export function onFieldKeys(event: KeyboardEvent, { enter, escape }: { enter: () => void; escape: () => void }): void {
  // An input method uses Enter and Escape itself; some report it only by key code 229.
  if (event.nativeEvent.isComposing || event.keyCode === 229) return
  if (event.key === 'Escape') escape()
  if (event.key !== 'Enter' || event.shiftKey) return
  event.preventDefault()
  enter()
}
