import type { ToolCallPart, UIMessage, UIPart } from '@millrace/protocol'
import { Index, Match, Show, Switch, type JSX } from 'solid-js'
import { resultText, toolLabels } from '../shared/view.ts'

/** By `Index`, a part keeps its elements while it grows, and only those of the part that changed are touched. */
export function Message(props: { readonly message: UIMessage }): JSX.Element {
  return (
    <article class="message" data-role={props.message.role} aria-label={props.message.role === 'user' ? 'You' : 'Agent'}>
      <Index each={props.message.parts}>{(part) => <Part part={part()} />}</Index>
    </article>
  )
}

function Part(props: { readonly part: UIPart }): JSX.Element {
  const call = (): ToolCallPart | undefined => (props.part.type === 'tool-call' ? props.part : undefined)
  const text = (type: 'text' | 'thinking'): { readonly content: string } | undefined => (props.part.type === type ? props.part : undefined)
  return (
    <Switch>
      <Match when={text('text')}>{(part) => <p class="text">{part().content}</p>}</Match>
      <Match when={text('thinking')}>{(part) => <p class="text thinking">{part().content}</p>}</Match>
      <Match when={call()}>
        {(part) => (
          <section class="tool" data-state={part().state} aria-label={`Tool call ${part().name}`}>
            <header>
              <code>{part().name}</code>
              <span>{toolLabels[part().state]}</span>
            </header>
            <pre class="arguments">{part().arguments}</pre>
            <Show when={resultText(part())}>{(result) => <pre class="result">{result()}</pre>}</Show>
          </section>
        )}
      </Match>
    </Switch>
  )
}
