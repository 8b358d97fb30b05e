/** The messages as a list that follows its end, the same for every client: windowed, or whole. */
import { memo, useCallback, useLayoutEffect, useRef, type ReactElement, type ReactNode } from 'react'
import { VList, type VListHandle } from 'virtua'
import type { Client } from './client.ts'
import type { ListKind } from './plan.ts'
import { probe } from './probe.ts'

interface RowProps<Message> {
  readonly message: Message
  readonly read: Client<Message>['read']
}

/** Memoised by the identity of its message, whoever made it. */
const Row = memo(function Row({ message, read }: RowProps<unknown>): ReactNode {
  probe.rendered()
  const { role, text, calls } = read(message)
  return (
    <article className="row" data-role={role}>
      <p>{text}</p>
      {calls.map(({ id, name, input, output }) => (
        <pre key={id}>
          {name}({input}) → {output}
        </pre>
      ))}
    </article>
  )
}) as <Message>(props: RowProps<Message>) => ReactElement

export interface RowsProps<Message> {
  readonly kind: ListKind
  readonly messages: readonly Message[]
  readonly read: Client<Message>['read']
}

export function Rows<Message extends { readonly id: string }>({ kind, messages, read }: RowsProps<Message>): ReactNode {
  const list = useRef<VListHandle>(null)
  const whole = useRef<HTMLDivElement>(null)
  const follow = useOncePerFrame()
  useLayoutEffect(() => {
    follow(() => {
      list.current?.scrollToIndex(messages.length - 1, { align: 'end' })
      if (whole.current !== null) whole.current.scrollTop = whole.current.scrollHeight
    })
  }, [follow, messages])
  if (kind === 'windowed') {
    return (
      <VList ref={list} className="list" data={messages}>
        {(message) => <Row key={message.id} message={message} read={read} />}
      </VList>
    )
  }
  return (
    <div ref={whole} className="list">
      {messages.map((message) => (
        <Row key={message.id} message={message} read={read} />
      ))}
    </div>
  )
}

/** Of what is asked for in a frame, the last is done: scrolling is of no use before anybody sees it. */
function useOncePerFrame(): (action: () => void) => void {
  const asked = useRef<(() => void) | undefined>(undefined)
  return useCallback((action: () => void) => {
    if (asked.current === undefined) {
      requestAnimationFrame(() => {
        const last = asked.current
        asked.current = undefined
        last?.()
      })
    }
    asked.current = action
  }, [])
}
