import type { IconName } from './icons.tsx'

/** What the scripted agent understands, as the page offers it. */
export interface Suggestion {
  readonly prompt: string
  readonly label: string
  readonly hint: string
  readonly icon: IconName
}

export const tourSuggestion: Suggestion = {
  prompt: 'Plan a weekend in Lisbon',
  label: 'Plan a weekend in Lisbon',
  hint: 'The whole tour in one run: reasoning, a plan, tools, shared state and a question back to you',
  icon: 'map',
}

export const suggestions: readonly Suggestion[] = [
  { prompt: 'Tell me a long story', label: 'Tell me a long story', hint: 'Cut it, reload, stop it', icon: 'book' },
  { prompt: 'Compare the weather in Lisbon and Porto', label: 'Compare the weather', hint: 'Two tools at once', icon: 'weather' },
  { prompt: 'What time is it here?', label: 'What time is it here?', hint: 'A tool in your browser', icon: 'clock' },
  { prompt: 'Book a room', label: 'Book a room', hint: 'A question back to you', icon: 'bed' },
  { prompt: 'Set the budget to €750', label: 'Set the budget', hint: 'Shared state, by patches', icon: 'coins' },
  { prompt: 'How does an answer arrive?', label: 'How does an answer arrive?', hint: 'Markdown, streamed', icon: 'text' },
  { prompt: 'Fail half way', label: 'Fail half way', hint: 'An error, then a retry', icon: 'bolt' },
]
