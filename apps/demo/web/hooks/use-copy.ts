import { useCallback, useEffect, useRef, useState } from 'react'

const shownFor = 1600

/** `navigator.clipboard` exists only on secure origins; the demo may be opened by address on a local network. */
async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    area.className = 'off-screen'
    document.body.append(area)
    area.select()
    const done = document.execCommand('copy')
    area.remove()
    return done
  }
}

/** @returns `copied`, true for a moment after a copy that worked */
export function useCopy(): { copied: boolean; copy: (text: string) => void } {
  const [copied, setCopied] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = useCallback((text: string) => {
    void write(text).then((done) => {
      if (!done) return
      setCopied(true)
      clearTimeout(timer.current)
      timer.current = setTimeout(() => setCopied(false), shownFor)
    })
  }, [])
  return { copied, copy }
}
