/** The floor: decode, `JSON.parse`, append or patch. Nothing that does more can be faster. */
import type { Event, Message } from '@millrace/protocol'
import { responseOf } from '../workloads/wire.ts'
import { piecesOf, seenBy, textsOf, type Job, type Prepare, type Run, type Watch } from './contender.ts'
import { FloorFold } from './floor-fold.ts'
import { outcomeOf } from './messages-answer.ts'

/** Line by line, LF only, each line one event. A line that comes in many pieces is a rope until it is parsed. */
export function lineReader(take: (event: Event) => void): (piece: Uint8Array) => void {
  const utf8 = new TextDecoder()
  let open = ''
  return (piece) => {
    const text = utf8.decode(piece, { stream: true })
    let from = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      const line = open + text.slice(from, end)
      open = ''
      from = end + 1
      if (line !== '') take(JSON.parse(line.slice(6)) as Event)
    }
    open += text.slice(from)
  }
}

/** Folds, and lets whoever watches look; `seen()` says what they saw. */
function watched(fold: FloorFold, watch: Watch): { readonly take: (event: Event) => void; readonly seen: () => string } {
  let looks = 0
  switch (watch.kind) {
    case 'end':
      return { take: (event) => fold.apply(event), seen: () => '' }
    case 'snapshots': {
      let events = 0
      let last: readonly Message[] = []
      const take = (event: Event): void => {
        fold.apply(event)
        if (++events % watch.every !== 0) return
        last = fold.snapshot()
        looks++
      }
      return { take, seen: () => seenBy(looks, last) }
    }
    case 'arguments': {
      // Reading while they come is more than the least: it parses once, when they are complete.
      let value: unknown
      const take = (event: Event): void => {
        fold.apply(event)
        if (event.type === 'TOOL_CALL_END') value = JSON.parse(fold.argumentsOf(event.toolCallId))
      }
      return { take, seen: () => JSON.stringify(value) }
    }
    case 'subscribers': {
      const hooks = Array.from({ length: watch.count }, () => (_event: Event, _before: string | undefined): void => void looks++)
      const take = (event: Event): void => {
        for (const hook of hooks) hook(event, undefined)
        if (event.type === 'TEXT_MESSAGE_CONTENT') {
          for (const hook of hooks) hook(event, fold.textOf(event.messageId))
        }
        fold.apply(event)
      }
      return { take, seen: () => String(looks) }
    }
  }
}

type Feed = (take: (event: Event) => void) => Promise<void>

function feedOf(job: Job): Feed {
  switch (job.entry) {
    case 'texts': {
      const texts = textsOf(job.stream.events)
      return async (take) => {
        for (const text of texts) take(JSON.parse(text) as Event)
      }
    }
    case 'push': {
      const pieces = piecesOf(job)
      return async (take) => {
        const read = lineReader(take)
        for (const piece of pieces) read(piece)
      }
    }
    case 'response': {
      const pieces = piecesOf(job)
      return async (take) => {
        const read = lineReader(take)
        const reader = (responseOf(pieces).body as ReadableStream<Uint8Array>).getReader()
        for (let piece = await reader.read(); !piece.done; piece = await reader.read()) read(piece.value)
      }
    }
  }
}

export const floor: Prepare = (job) => {
  const feed = feedOf(job)
  return (): Run => {
    // It is patched in place.
    const state = structuredClone(job.stream.state)
    return async () => {
      const fold = new FloorFold(job.stream.history, state)
      const { take, seen } = watched(fold, job.watch)
      await feed(take)
      return () => outcomeOf(fold.messages, fold.state, seen())
    }
  }
}
