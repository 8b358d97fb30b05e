/** For everything the script does not know. */
import type { Scene } from '../stage.ts'
import { say } from '../stage.ts'

export const fallback: Scene = async (stage) => {
  await say(
    stage,
    `I am a **scripted** agent: no model, no key, no network. I know a few things well:

- *Plan a weekend in Lisbon*: the tour, with everything in one run
- *Compare the weather*: two tools at once
- *Set the budget to 750*: shared state, moved by patches
- *Pack my bag*: a plan that ticks
- *Book a room*: a question back to you
- *What time is it here?*: a tool that runs in your browser
- *How does an answer arrive?*: Markdown
- *Tell me a long story*: something to cut, reload or stop
- *Fail half way*: an error, and a retry

Put a real agent behind the same endpoint and this page needs no change.`,
  )
}
