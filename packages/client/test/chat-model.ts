/**
 * What a chat is to show after each thing that a user, the clock or the network does: by its own simple rules, in the fewest
 * words. Here is what the user does. It knows the runs of the world as they are asked for, and nothing of how a chat is made.
 */
import type { WhenBusy } from '@millrace/client'
import { ModelRuns } from './chat-model-runs.ts'
import { isShown, type Said, type Shown, type Waiting } from './chat-model-state.ts'
import type { Plan } from './model-runs.ts'

export type { ModelOptions } from './chat-model-state.ts'

/** Gives a code where the chat has to refuse. */
type Refusal = string | undefined

export class Model extends ModelRuns {
  send(send: number, id: string, text: string, plan: Plan, whenBusy: WhenBusy = this.options.whenBusy): Refusal {
    if (this.users.includes(id) || this.queue.some((waiting) => waiting.id === id)) return 'id-taken'
    if (this.busy) {
      if (whenBusy === 'refuse') return 'busy'
      if (whenBusy === 'drop') return void this.finish([send], 'cancelled')
      if (whenBusy === 'queue') return this.#wait({ send, id, text, plan })
    }
    if (this.questions.length > 0) return 'interrupts-pending'
    this.cancel()
    this.closeCalls()
    this.entries.push({ user: id, text })
    return this.begin([send], plan)
  }

  cancelQueued(id: string): boolean {
    const found = this.queue.find((waiting) => waiting.id === id)
    if (found === undefined) return false
    this.queue = this.queue.filter((waiting) => waiting !== found)
    this.finish([found.send], 'cancelled')
    return true
  }

  edit(send: number, before: string, id: string, text: string, plan: Plan): Refusal {
    if (this.questions.length > 0) return 'interrupts-pending'
    if (!this.users.includes(before)) return 'unknown-message'
    this.stop()
    this.entries.splice(this.entries.findIndex((entry) => !isShown(entry) && entry.user === before))
    this.entries.push({ user: id, text })
    return this.begin([send], plan)
  }

  reload(send: number, plan: Plan): Refusal {
    if (this.questions.length > 0) return 'interrupts-pending'
    if (this.users.length === 0) return 'nothing-to-reload'
    this.stop()
    this.entries.splice(this.entries.findLastIndex((entry) => !isShown(entry)) + 1)
    return this.begin([send], plan)
  }

  retry(send: number): Refusal {
    if (this.busy) return 'busy'
    const { failed } = this
    if (failed === undefined) return 'nothing-to-retry'
    // What was said since goes before it.
    const notes = new Map([...failed.notes, ...this.noted])
    if (failed.resumes && this.questions.some((question) => this.expired(question, notes.get(question.id)))) return 'interrupt-expired'
    this.entries.splice(this.entries.indexOf(failed.shown))
    this.state = failed.state
    if (failed.resumes) for (const [id, status] of notes) this.noted.set(id, status)
    return this.begin([send], failed.plan, failed.resumes)
  }

  append(send: number, id: string, text: string, plan: Plan): Refusal {
    if (this.busy) return 'busy'
    if (this.questions.length > 0) return 'interrupts-pending'
    this.closeCalls()
    const known = this.entries.find((entry) => !isShown(entry) && entry.user === id) as Said | undefined
    if (known !== undefined) known.text = text
    else this.entries.push({ user: id, text })
    return this.begin([send], plan)
  }

  answer(send: number, call: string, text: string, plan: Plan): Refusal {
    const shown = this.entries.filter(isShown).find((entry) => this.callsOf(entry).some(({ id }) => id === call)) as Shown
    this.failed = undefined
    const last = this.last
    const waited = last !== undefined && this.openCalls(last).length > 0
    shown.answers.set(call, text)
    if (this.busy || this.left !== undefined || !waited || this.openCalls(last).length > 0) return void this.finish([send], 'finished')
    return this.begin([send], plan)
  }

  respond(send: number, id: string, status: 'resolved' | 'cancelled', plan: Plan): Refusal {
    if (this.busy) return 'busy'
    const question = this.questions.find((each) => each.id === id)
    if (question === undefined) return 'unknown-interrupt'
    if (this.expired(question, status)) return 'interrupt-expired'
    const last = this.asked.every((other) => other === id)
    // One that was answered in time, and waited for the others for too long, can only be cancelled.
    if (last && this.questions.some((other) => other.id !== id && this.expired(other, this.noted.get(other.id)))) return 'interrupt-expired'
    this.noted.set(id, status)
    if (!last) return void this.finish([send], 'interrupted')
    return this.begin([send], plan, true)
  }

  resume(send: number, count: number, status: 'resolved' | 'cancelled', plan: Plan): Refusal {
    if (this.busy) return 'busy'
    if (this.questions.length === 0) return 'nothing-to-resume'
    if (this.questions.slice(0, count).some((question) => this.expired(question, status))) return 'interrupt-expired'
    if (count < this.questions.length) return 'unanswered-interrupts'
    for (const { id } of this.questions) this.noted.set(id, status)
    return this.begin([send], plan, true)
  }

  /** What runs is over, and what waits is let go. */
  stop(): void {
    this.flush()
    if (this.chain !== undefined) this.status = 'ready'
    this.cancel()
    if (this.left !== undefined) this.overEarly = true
    this.left = undefined
  }

  /** The reading of what runs is over; the run goes on. */
  detach(): void {
    const { chain } = this
    if (chain === undefined || chain.working) return
    const { shown, line } = chain
    if (line.seen > 0) line.leave()
    this.left = { shown, line: line.seen === 0 ? line : undefined }
    this.leave('ready')
    this.finish(chain.sends, 'running')
    this.flush()
  }

  attach(send: number): void {
    if (this.busy || this.left === undefined) return this.finish([send], 'none')
    this.join(send, this.left.shown, this.left.line)
  }

  clear(): void {
    this.stop()
    this.failed = undefined
    this.last = this.asker = undefined
    this.entries = []
    this.questions = []
    this.noted.clear()
    this.state = {}
    this.status = 'ready'
  }

  /** What follows this message of the user is gone; all is, if there is none. */
  keepTo(user: string | undefined): void {
    this.failed = undefined
    this.entries = this.entries.slice(0, this.entries.findIndex((entry) => !isShown(entry) && entry.user === user) + 1)
  }

  #wait(waiting: Waiting): Refusal {
    const oldest = this.queue[0]
    if (this.queue.length >= this.options.maxSize) {
      if (this.options.onOverflow === 'refuse' || oldest === undefined) return 'queue-full'
      this.cancelQueued(oldest.id)
    }
    this.queue.push(waiting)
    return undefined
  }
}
