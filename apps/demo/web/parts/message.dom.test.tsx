import type { UIMessage, UIPart } from '@millrace/protocol'
import { act } from 'react'
import type { Root } from 'react-dom/client'
import { createRoot } from 'react-dom/client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Transcript } from '../chat/transcript.tsx'
import { Markdown, safeUrl } from './markdown.tsx'
import { OwnMessage } from './own-message.tsx'

declare global {
  var IS_REACT_ACT_ENVIRONMENT: boolean
}
globalThis.IS_REACT_ACT_ENVIRONMENT = true

let root: Root
let box: HTMLElement

beforeEach(() => {
  box = document.createElement('div')
  document.body.append(box)
  root = createRoot(box)
})
afterEach(() => {
  act(() => root.unmount())
  box.remove()
})

describe('Markdown', () => {
  const show = (text: string): void => act(() => root.render(<Markdown text={text} streaming={false} />))

  test.each([
    '<script>alert(1)</script>',
    '<img src=x onerror="alert(1)">',
    'a <b onclick="alert(1)">b</b>',
    '<iframe src="https://example.org"></iframe>',
    '![pixel](https://example.org/pixel.png)',
  ])('makes no element of %o', (text) => {
    show(text)
    expect(box.querySelectorAll('script, img, iframe, b').length).toBe(0)
    expect(box.innerHTML).not.toMatch(/on(?:error|click)=/u)
  })

  test.each(['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'data:text/html,x', 'vbscript:x', '/relative', '//example.org'])(
    'does not link to %s',
    (url) => {
      expect(safeUrl(url)).toBe('')
      show(`[here](${url})`)
      expect(box.querySelector('a')).toBeNull()
      expect(box.textContent).toBe('here')
    },
  )

  test.each(['https://example.org/a', 'http://example.org', 'mailto:a@example.org'])('links to %s, apart from us', (url) => {
    show(`[here](${url})`)
    const link = box.querySelector('a')
    expect(link?.getAttribute('href')).toBe(url)
    expect(link?.rel.split(' ')).toEqual(expect.arrayContaining(['noopener', 'noreferrer']))
    expect(link?.target).toBe('_blank')
  })
})

test('a delta renders the message it belongs to, and no other', () => {
  const reads = new Map<string, number>()
  const message = (id: string, role: UIMessage['role'], content: string): UIMessage => {
    const parts: readonly UIPart[] = [{ type: 'text', content, state: 'streaming' }]
    return {
      id,
      role,
      get parts() {
        reads.set(id, (reads.get(id) ?? 0) + 1)
        return parts
      },
    }
  }
  const settled = [message('u1', 'user', 'a'), message('a1', 'assistant', 'b'), message('u2', 'user', 'c')]
  const show = (text: string): void =>
    act(() =>
      root.render(
        <Transcript
          messages={[...settled, message('a2', 'assistant', text)]}
          busy
          answers={[]}
          interrupt={undefined}
          onAnswer={() => undefined}
          onReload={undefined}
          onEdit={undefined}
          lost={false}
        />,
      ),
    )
  show('d')
  const before = new Map(reads)
  for (const text of ['de', 'del', 'delt', 'delta']) show(text)
  for (const id of ['u1', 'a1', 'u2']) expect(reads.get(id)).toBe(before.get(id))
  expect(reads.get('a2')).toBeGreaterThan(before.get('a2') ?? 0)
  expect(box.textContent).toContain('delta')
})

test('what is being written of a message stays while nothing can be sent, and can be sent after', () => {
  const message: UIMessage = { id: 'u1', role: 'user', parts: [{ type: 'text', content: 'Two rooms' }] }
  const sent: string[] = []
  const show = (onEdit: ((id: string, text: string) => void) | undefined): void => act(() => root.render(<OwnMessage message={message} onEdit={onEdit} />))
  const edit = (_id: string, text: string): void => void sent.push(text)
  const askAgain = (): HTMLButtonElement | undefined => [...box.querySelectorAll('button')].find(({ textContent }) => textContent === 'Ask again')
  show(edit)
  act(() => box.querySelector<HTMLButtonElement>('[aria-label="Edit your message"]')?.click())
  expect(askAgain()?.disabled).toBe(false)
  show(undefined)
  expect(box.querySelector('textarea')?.value).toBe('Two rooms')
  expect(askAgain()?.disabled).toBe(true)
  show(edit)
  act(() => askAgain()?.click())
  expect(sent).toEqual(['Two rooms'])
})
