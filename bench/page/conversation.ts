/** What the page holds before anybody asks, and what comes then: numbers in, words out. It knows no client and no form of messages. */
import { numbersFrom } from '../workloads/random.ts'

/** A message of the history, in nobody's form. */
export interface Said {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly text: string
  /** A tool that the agent called after its text. */
  readonly call?: { readonly id: string; readonly name: string; readonly input: { readonly place: string; readonly days: number }; readonly output: { readonly turns: number } }
}

const WORDS = 'the current turns a wheel of oak and iron slowly while clear water runs below it and the miller counts what it brings'.split(' ')

/** Every so many answers call a tool. */
const CALLING = 5

/** @param length Messages of the user and of the agent, in turn. */
export function conversation(length: number): Said[] {
  const number = numbersFrom(7)
  const sentence = (count: number): string => Array.from({ length: count }, () => WORDS[number(0, WORDS.length - 1)]).join(' ')
  return Array.from({ length }, (_, index): Said => {
    const id = `said-${index}`
    if (index % 2 === 0) return { id, role: 'user', text: sentence(number(4, 16)) }
    const said: Said = { id, role: 'assistant', text: sentence(number(20, 90)) }
    if (index % (2 * CALLING) !== 1) return said
    return { ...said, call: { id: `call-${index}`, name: 'measure', input: { place: `wheel ${index}`, days: number(1, 7) }, output: { turns: number(10, 900) } } }
  })
}

export const QUESTION = 'Which way does it turn?'

/** The answer, as it comes. */
export function answerDeltas(count: number): string[] {
  const number = numbersFrom(11)
  return Array.from({ length: count }, () => `${WORDS[number(0, WORDS.length - 1)]} `)
}
