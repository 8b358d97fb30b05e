// The agent that `serve` has built in: it answers with what it was told, word by word, and shows on request what else
// can come over the wire. No model, no network; for trying clients out.
import type { Message } from '@millrace/protocol'
import { AgentError, type Agent, type RunContext } from '@millrace/server'
import { setTimeout as sleep } from 'node:timers/promises'

const HELP = `I am the echo agent of millrace serve: I say what you say. These words do more:

  think   reasoning before the answer
  tool    a tool call with its result
  state   a snapshot of shared state, then patches
  ask     an interrupt, which waits for your answer
  long    a long answer, to be stopped
  fail    a run that ends in an error`

/** Milliseconds between words: slow enough to be seen, fast enough not to be waited for. */
const PACE = 25

type Scene = (run: RunContext) => Promise<void>

const SCENES: Readonly<Record<string, Scene>> = {
  help: async (run) => void (await run.text(HELP)),
  think: async (run) => {
    await run.reasoning(words('The user wants to see reasoning. Let me think about what to say about it.', run.signal))
    await say(run, 'I have thought about it.')
  },
  tool: async (run) => {
    const { messageId } = await run.text(words('Let me look that up.', run.signal))
    const call = await run.toolCall('getWeather', { city: 'Zürich', unit: 'celsius' }, { parentMessageId: messageId })
    await sleep(PACE * 10, undefined, { signal: run.signal })
    await call.result({ city: 'Zürich', degrees: 4 })
    await say(run, 'It is 4 °C in Zürich.')
  },
  state: async (run) => {
    await run.state.set({ count: 0, items: [] })
    for (const [index, item] of ['one', 'two', 'three'].entries()) {
      await sleep(PACE * 10, undefined, { signal: run.signal })
      await run.state.patch([
        { op: 'replace', path: '/count', value: index + 1 },
        { op: 'add', path: '/items/-', value: item },
      ])
    }
    await say(run, 'The state has three items now.')
  },
  ask: async (run) => {
    await say(run, 'I would like to delete the file notes.txt.')
    run.interrupt({
      reason: 'approval',
      message: 'Delete notes.txt?',
      responseSchema: { type: 'object', properties: { approved: { type: 'boolean' } }, required: ['approved'] },
    })
  },
  long: (run) => say(run, 'All work and no play makes for a long answer. '.repeat(40).trim()),
  fail: async (run) => {
    await say(run, 'This is going to fail.')
    throw new AgentError('scripted', 'The run failed, as you asked.')
  },
}

export const echoAgent: Agent = async (input, run) => {
  const answer = input.resume?.[0]
  if (answer !== undefined) {
    const said = answer.status === 'cancelled' ? 'nothing: the question was cancelled' : JSON.stringify(answer.payload)
    await say(run, `Your answer was ${said}.`)
    return
  }
  const text = lastUserText(input.messages)
  const scene = Object.hasOwn(SCENES, text.toLowerCase()) ? SCENES[text.toLowerCase()] : undefined
  if (scene !== undefined) await scene(run)
  else if (text === '') await say(run, 'Say something, or say help.')
  else await say(run, `You said: ${text}`)
}

async function say(run: RunContext, text: string): Promise<void> {
  await run.text(words(text, run.signal))
}

/** The text in pieces of a word, white space kept. */
async function* words(text: string, signal: AbortSignal): AsyncGenerator<string> {
  for (const piece of text.match(/\s*\S+\s*$|\s*\S+/g) ?? []) {
    yield piece
    await sleep(PACE, undefined, { signal })
  }
}

function lastUserText(messages: readonly Message[]): string {
  const last = messages.findLast(({ role }) => role === 'user')
  if (last?.role !== 'user') return ''
  const { content } = last
  const text = typeof content === 'string' ? content : content.flatMap((part) => (part.type === 'text' ? part.text : [])).join(' ')
  return text.trim()
}
