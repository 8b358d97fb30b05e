/** Markdown in all its common forms, after a little reasoning. */
import type { Scene } from '../stage.ts'
import { say, think } from '../stage.ts'

const thought = `The question is how an answer gets from an agent to a page. The short form: events, folded. \
A list for the order, a table for the kinds, a piece of code for whoever wants to try.`

const text = `## How an answer arrives

An agent does not send pages. It sends **events**, and the page is what you get by folding them:

1. the run starts;
2. text, tool calls and state arrive in small pieces, *in any interleaving*;
3. the run ends: finished, failed, or with a question for you.

| Event | What it moves |
| --- | --- |
| \`TEXT_MESSAGE_CONTENT\` | the words you are reading |
| \`TOOL_CALL_ARGS\` | arguments, before they are complete |
| \`STATE_DELTA\` | the panel, by a JSON Patch |
| \`RUN_FINISHED\` | the end, or an interrupt |

In React that is one hook:

\`\`\`tsx
import { fetchServerSentEvents } from '@millrace/client'
import { useChat } from '@millrace/react'

const { messages, sendMessage, status } = useChat({
  connection: fetchServerSentEvents('/api/chat'),
})
\`\`\`

> Text that came before a failure stays. A stream that just stops is not a success.

The protocol is described at [docs.ag-ui.com](https://docs.ag-ui.com). The events of this very answer are in the panel.`

export const answer: Scene = async (stage) => {
  await think(stage, thought)
  await say(stage, text)
}
