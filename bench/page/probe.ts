/** Watches the page from within: commits, rows, frames, long tasks. It knows no client. */
import { MARKS, type Observed } from './observed.ts'

/** What a commit showed. */
export interface Shown {
  readonly messages: number
  readonly busy: boolean
  /** Text of the last message if it is the agent's. */
  readonly answer: string
  readonly error: Error | undefined
}

const nextFrame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve))

/** Settles when what was committed is on its way to the screen: a task after the frame. */
export async function painted(): Promise<number> {
  await nextFrame()
  const { port1, port2 } = new MessageChannel()
  await new Promise((resolve) => {
    port1.addEventListener('message', resolve, { once: true })
    port1.start()
    port2.postMessage(0)
  })
  port1.close()
  return performance.now()
}

class Probe {
  #sending: Promise<unknown> = Promise.resolve()
  #before = 0
  #start = Number.NaN
  #paintedMs = Number.NaN
  #last = Number.NaN
  #answered = false
  #commits = 0
  #rows = 0
  #frames = 0
  #frameMs = 0
  shown: Shown = { messages: 0, busy: false, answer: '', error: undefined }

  rendered(): void {
    this.#rows++
  }

  /** Called in the layout effect of each commit of the page. */
  committed(shown: Shown): void {
    this.shown = shown
    this.#commits++
    this.#last = performance.now()
    if (Number.isNaN(this.#start)) return
    if (Number.isNaN(this.#paintedMs) && shown.messages > this.#before) {
      this.#paintedMs = 0
      void painted().then((now) => {
        this.#paintedMs = now - this.#start
      })
    }
    // Some show an empty answer first, some the question alone.
    if (!this.#answered && shown.messages > this.#before + 1 && shown.answer !== '') {
      this.#answered = true
      performance.mark(MARKS.answered)
    }
  }

  /** What the form got from the client. */
  sent(sending: Promise<unknown>): void {
    this.#sending = sending
  }

  /** @param submit Has the form sent, in this task. */
  async watch(submit: () => void): Promise<Omit<Observed, 'shown' | 'heapMb'>> {
    const long: PerformanceEntry[] = []
    const observer = new PerformanceObserver((list) => long.push(...list.getEntries()))
    observer.observe({ type: 'longtask' })
    this.#before = this.shown.messages
    const stopFrames = this.#watchFrames(await painted())
    this.#commits = this.#rows = 0
    performance.mark(MARKS.sent)
    this.#start = performance.now()
    submit()
    await this.#sending
    // The last state may be committed after the promise has settled.
    do await painted()
    while (this.shown.busy)
    if (this.shown.error !== undefined) throw this.shown.error
    stopFrames()
    performance.mark(MARKS.settled)
    await painted()
    long.push(...observer.takeRecords())
    observer.disconnect()
    return {
      paintedMs: this.#paintedMs,
      settledMs: this.#last - this.#start,
      commits: this.#commits,
      rows: this.#rows,
      frames: this.#frames,
      frameMs: this.#frameMs,
      longTasks: long.length,
      longTasksMs: long.reduce((sum, { duration }) => sum + duration, 0),
      messages: this.shown.messages,
      text: this.shown.answer,
    }
  }

  #watchFrames(since: number): () => void {
    let last = since
    let handle = 0
    const ask = (): void => {
      handle = requestAnimationFrame(() => {
        const now = performance.now()
        this.#frames++
        this.#frameMs = Math.max(this.#frameMs, now - last)
        last = now
        ask()
      })
    }
    ask()
    return () => cancelAnimationFrame(handle)
  }
}

export const probe: Probe = new Probe()
