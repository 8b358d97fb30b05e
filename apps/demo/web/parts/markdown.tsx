/** Markdown from an agent: untrusted. No raw HTML, no images (they would call home), links to the web and mail only. */
import type { ComponentProps, ReactNode } from 'react'
import { isValidElement, memo, useMemo } from 'react'
import type { Components } from 'react-markdown'
import ReactMarkdown from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { useCopy } from '../hooks/use-copy.ts'
import { Icon } from '../icons.tsx'
import { markdownBlocks } from './markdown-blocks.ts'

const plugins = [remarkGfm]
const allowed = /^(?:https?:\/\/|mailto:)/iu

/** @returns the URL, or '' for any scheme but http, https and mailto, and for relative ones. */
export function safeUrl(url: string): string {
  return allowed.test(url) ? url : ''
}

function textOf(node: ReactNode): string {
  if (typeof node === 'string') return node
  if (Array.isArray(node)) return node.map(textOf).join('')
  return isValidElement<{ children?: ReactNode }>(node) ? textOf(node.props.children) : ''
}

function CodeBlock({ children }: { children?: ReactNode }): ReactNode {
  const { copied, copy } = useCopy()
  const className = isValidElement<{ className?: string }>(children) ? children.props.className : undefined
  const language = /language-(\S+)/u.exec(className ?? '')?.[1]
  return (
    <div className="code-block">
      <div className="code-bar">
        <span>{language ?? 'text'}</span>
        <button type="button" className="quiet small" onClick={() => copy(textOf(children).replace(/\n$/u, ''))}>
          <Icon name={copied ? 'check' : 'copy'} />
          {copied ? 'Copied' : 'Copy code'}
        </button>
      </div>
      {/* Scrolls sideways, so it must be reachable by keyboard. */}
      <pre tabIndex={0} role="group" aria-label="Code">
        {children}
      </pre>
    </div>
  )
}

type Props<Tag extends 'a' | 'img' | 'table'> = ComponentProps<Tag> & { node?: unknown }

const components: Components = {
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  a: ({ href, children }: Props<'a'>) =>
    href ? (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  img: ({ alt }: Props<'img'>) => <span className="image-alt">{alt || 'image'}</span>,
  table: ({ children }: Props<'table'>) => (
    <div className="table-scroll" tabIndex={0} role="group" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
}

const Block = memo(function Block({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={plugins} components={components} urlTransform={safeUrl} skipHtml>
      {text}
    </ReactMarkdown>
  )
})

export const Markdown = memo(function Markdown({ text, streaming }: { text: string; streaming: boolean }) {
  const blocks = useMemo(() => markdownBlocks(text), [text])
  return (
    <div className="markdown" data-streaming={streaming || undefined}>
      {blocks.map((block, index) => (
        // Blocks are only ever appended, so the index is their identity.
        <Block key={index} text={block} />
      ))}
    </div>
  )
})
