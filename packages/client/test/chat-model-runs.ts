/** How the runs of a modelled chat go: begun, read, gone on with, over. It knows nothing of what the user may ask for. */
import { Line } from './chat-model-line.ts'
import { isShown, ModelState, type Chain, type Shown } from './chat-model-state.ts'
import type { Plan } from './model-runs.ts'
import type { Asked, Cut } from './model-server.ts'

export class ModelRuns extends ModelState {
  /** All that are read, also those that were left before anything was heard of them. */
  #lines: Line[] = []
  /** Requests that nobody has accounted for. */
  readonly #requests: Asked[] = []
  #begun = 0
  /** Runs of each plan. */
  readonly #used = new Map<Plan | undefined, number>()

  /** Follows what the server was asked and has given since. */
  settle(): void {
    this.#requests.push(...this.world.server.asked.splice(0))
    let moved: boolean
    do moved = this.#step()
    while (moved)
    for (const line of this.#lines) if (line.overdue(this.world.now)) this.faults.push(`nobody asked for ${line.run.runId}`)
    for (const { method, runId } of this.#requests.splice(0)) this.faults.push(`${method} ${runId} was one too many`)
  }

  /** The network broke. */
  broke(cut: Cut): void {
    for (const line of this.#lines) line.cut(cut, this.world.now)
  }

  /** The slow tools that run are done. */
  toolsDone(): void {
    const { chain } = this
    if (chain?.working !== true) return
    for (const { id, name } of this.callsOf(chain.shown)) if (name === 'slow' && !chain.shown.answers.has(id)) chain.shown.answers.set(id, 'slow')
    this.#answered(chain)
  }

  /** What is said in place of an answer is one. */
  protected closeCalls(): void {
    if (this.last !== undefined) for (const id of this.openCalls(this.last)) this.last.answers.set(id, 'The user said something else instead.')
    else if (this.overEarly && this.left === undefined) this.#closeLost()
  }

  /** Nor is there anything to wait for when a run is over before its time. */
  #closeLost(): void {
    const shown = this.entries.slice(this.entries.findLastIndex((entry) => !isShown(entry)) + 1).filter(isShown)
    for (const [index, entry] of shown.entries()) {
      const wentOn = shown.slice(index + 1).some(({ run, events }) => run.kind === 'text' && events > 2)
      for (const { id, name } of this.callsOf(entry)) if (!entry.answers.has(id) && !(name === 'book' && wentOn)) entry.answers.set(id, 'The run ended before there was a result.')
    }
  }

  protected begin(sends: readonly number[], plan: Plan | undefined, resumes = false, count = 0): undefined {
    const run = this.world.runs[this.#begun++]
    if (run === undefined) throw new Error('nothing was asked of the server')
    const used = this.#used.get(plan) ?? 0
    this.#used.set(plan, used + 1)
    const expected = {
      kind: plan?.kinds[used] ?? 'text',
      input: { lines: this.lines, state: this.state, resume: resumes ? this.questions.map(({ id }) => id) : [], parentRunId: resumes ? this.asker : undefined },
    }
    const given = { kind: run.kind, input: run.input }
    if (JSON.stringify(given) !== JSON.stringify(expected)) this.faults.push(`asked ${JSON.stringify(given)}, not ${JSON.stringify(expected)}`)
    const shown: Shown = { run, events: 0, answers: new Map() }
    this.entries.push(shown)
    this.left = this.failed = undefined
    // A request that was left before anything was heard of it is given up for the next.
    for (const line of this.#lines) if (line.begins) line.leave()
    const joined = count > 0 && this.chain?.joined === true
    this.chain = { sends, plan, joined, shown, line: this.#read(new Line(run, { begins: true, ...this.#now })), resumes, state: this.state, count, working: false }
    this.status = 'submitted'
  }

  /** Reads a run that was left again. */
  protected join(send: number, shown: Shown, after: Line | undefined): void {
    const line = this.#read(new Line(shown.run, { begins: false, after, ...this.#now }))
    this.chain = { sends: [send], plan: undefined, joined: true, shown, line, resumes: false, state: this.state, count: 0, working: false }
    this.left = this.failed = undefined
    this.status = 'submitted'
  }

  get #now(): { readonly now: number; readonly resumes: boolean } {
    return { now: this.world.now, resumes: this.options.resumes }
  }

  #read(line: Line): Line {
    this.#lines.push(line)
    return line
  }

  /** What runs is over before its time: calls that are being answered are answered with that. */
  protected cancel(): void {
    const { chain } = this
    if (chain === undefined) return
    if (chain.working) for (const { id, name } of this.callsOf(chain.shown)) if (name === 'slow') chain.shown.answers.set(id, 'The user stopped it.')
    if (!chain.working) {
      this.last = undefined
      this.overEarly = true
    }
    chain.line.leave()
    this.leave(this.status)
    this.finish(chain.sends, 'cancelled')
    this.finishes.push('cancelled')
  }

  protected leave(status: ModelState['status']): void {
    this.chain = undefined
    this.noted.clear()
    this.status = status
  }

  /** What waits is let go. */
  protected flush(): void {
    for (const { send } of this.queue) this.finish([send], 'cancelled')
    this.queue = []
  }

  protected finish(sends: readonly number[], result: string): void {
    for (const send of sends) this.results.set(send, result)
  }

  /** One thing that happens by itself; false if nothing does any more. */
  #step(): boolean {
    const { chain } = this
    if (chain?.line.takeHeld() === true) {
      this.#heard(chain)
      return true
    }
    if (chain !== undefined && chain.line.broken !== undefined && !chain.working) {
      const { outcome, mayPass } = chain.line.broken
      this.#end(outcome)
      // A run that was joined may be joined again.
      if (chain.joined && chain.count === 0 && mayPass) this.left = { shown: chain.shown, line: undefined }
      return true
    }
    this.#lines = this.#lines.filter(({ stage }) => stage !== 'over')
    for (const line of this.#lines) {
      if (!line.advance(this.world.now, () => this.#requestFor(line))) continue
      if (line === chain?.line) this.#heard(chain)
      // It was read on to know that the request has arrived.
      else if (line.seen > 0) line.leave()
      return true
    }
    return false
  }

  #requestFor({ run, begins }: Line): Asked | undefined {
    const at = this.#requests.findIndex(({ runId }) => runId === run.runId)
    const [request] = at < 0 ? [] : this.#requests.splice(at, 1)
    if (request?.method === 'POST' && !begins) this.faults.push(`${run.runId} was begun, not joined`)
    return request
  }

  /** More of a run may have been read. */
  #heard(chain: Chain): void {
    const { shown, line } = chain
    const { run } = shown
    if (line.seen === 0) return
    if (run.kind === 'state' && shown.events < 2 && line.seen >= 2) this.state = { by: run.runId }
    shown.events = Math.max(shown.events, line.seen)
    this.last = undefined
    this.status = 'streaming'
    if (line.seen < run.script.length) return
    if (run.kind === 'fails') return this.#end('error')
    this.questions = run.questions
    this.asker = run.questions.length > 0 ? run.runId : undefined
    this.noted.clear()
    if (run.questions.length > 0) return this.#end('interrupted')
    this.last = shown
    for (const { id, name } of this.callsOf(shown)) {
      if (name === 'ask' || shown.answers.has(id)) continue
      this.executed.push(id)
      if (name === 'auto') shown.answers.set(id, 'auto')
      else chain.working = true
    }
    if (!chain.working) this.#answered(chain)
  }

  /** The tools of the last run have given what they could. */
  #answered(chain: Chain): void {
    const open = this.openCalls(chain.shown)
    this.told.push(...open)
    if (this.callsOf(chain.shown).length === 0 || open.length > 0) return this.#end('finished')
    if (chain.count === this.options.maxContinuations) return this.#end('error')
    this.begin(chain.sends, chain.plan, false, chain.count + 1)
  }

  #end(outcome: 'finished' | 'interrupted' | 'error' | 'truncated'): void {
    const failed = outcome === 'error' || outcome === 'truncated'
    const { sends, plan, shown, resumes, state, joined, count, working } = this.chain as Chain
    // One that went well, and was gone on with too often, is not sent again; nor is one that was only joined.
    if (failed && this.last !== shown && !working && !(joined && count === 0)) this.failed = { shown, plan, resumes, state, notes: new Map(this.noted) }
    this.overEarly = failed && this.last !== shown
    if (outcome !== 'finished') this.last = undefined
    this.leave(failed ? 'error' : 'ready')
    this.finish(sends, outcome)
    this.finishes.push(outcome)
    // After a success what waits has its turn; a question keeps it waiting, and a failure lets it go.
    if (failed) this.flush()
    if (outcome !== 'finished' || this.queue.length === 0) return
    const next = this.options.drain === 'batch' ? this.queue : this.queue.slice(0, 1)
    this.queue = this.queue.slice(next.length)
    this.closeCalls()
    for (const { id, text } of next) this.entries.push({ user: id, text })
    this.begin(
      next.map(({ send }) => send),
      next.at(-1)?.plan,
    )
  }
}
