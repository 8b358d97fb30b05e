import type { ToolCallPart } from '@millrace/protocol'
import { toolInput } from '@millrace/protocol'
import type { ReactNode } from 'react'
import { memo } from 'react'
import { Icon } from '../icons.tsx'
import { facts, isRecord, jsonText } from '../json-text.ts'

type Phase = 'writing' | 'running' | 'waiting' | 'done' | 'failed' | 'stopped'

const labels: Record<Phase, string> = {
  writing: 'Writing arguments',
  running: 'Running',
  waiting: 'Waiting for you',
  done: 'Done',
  failed: 'Failed',
  stopped: 'Not run',
}

function phaseOf({ state }: ToolCallPart, live: boolean): Phase {
  if (state === 'complete') return 'done'
  if (state === 'error') return 'failed'
  if (!live) return 'stopped'
  if (state === 'awaiting-input' || state === 'input-streaming') return 'writing'
  return state === 'approval-requested' ? 'waiting' : 'running'
}

/** One call: its arguments, readable as they are written, then its result. Both are untrusted, and shown as text. */
export const ToolCard = memo(function ToolCard({ part, live }: { part: ToolCallPart; live: boolean }) {
  const phase = phaseOf(part, live)
  const args = toolInput(part)
  return (
    <section className="tool-card" data-phase={phase} aria-label={`Tool call ${part.name}`}>
      <header>
        <Icon name="tool" />
        <code className="tool-name">{part.name}</code>
        <span className="tool-title">{titleOf(args)}</span>
        <span className="chip" data-tone={phase}>
          {labels[phase]}
        </span>
      </header>
      <div role="group" aria-label="Arguments">
        <pre className="tool-args" data-streaming={phase === 'writing' || undefined}>
          {args === undefined ? part.arguments : compact(args)}
        </pre>
      </div>
      <Result part={part} phase={phase} />
    </section>
  )
})

/** The first text among the arguments tells two calls of one tool apart. */
function titleOf(args: unknown): string | undefined {
  if (!isRecord(args)) return undefined
  return Object.values(args).find((value): value is string => typeof value === 'string' && value.length < 40)
}

/** One line per member, without the braces that a flat object does not need. */
function compact(args: unknown): string {
  if (!isRecord(args)) return jsonText(args)
  const lines = Object.entries(args).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  return lines.join('\n').slice(0, 4000)
}

function Result({ part, phase }: { part: ToolCallPart; phase: Phase }): ReactNode {
  if (part.result === undefined) {
    return phase === 'running' ? <div className="tool-pending" aria-hidden="true" /> : null
  }
  if (part.result.error !== undefined) return <p className="tool-error">{part.result.error}</p>
  const value = part.output ?? part.result.content
  const list = facts(value)
  return (
    <div role="group" aria-label="Result">
      {list === undefined ? (
        <pre className="tool-result">{typeof value === 'string' ? value : jsonText(value)}</pre>
      ) : (
        <dl className="facts">
          {list.map(([name, fact]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{fact === true ? 'yes' : fact === false ? 'no' : fact}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  )
}
