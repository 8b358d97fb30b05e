/** A chat and its model, side by side: whatever is done is done to both. */
import { expect } from 'vitest'
import { ChatClient, type ChatSnapshot, type TurnResult } from '@millrace/client'
import type { Command, PlayOptions } from './chat-commands.ts'
import { Model } from './chat-model.ts'
import { ModelClock } from './model-clock.ts'
import { linesOf, type Kind, type Plan } from './model-runs.ts'
import { World } from './model-world.ts'

/** Until everything has come of what was done: the event loop turns a few times, and nothing here waits for a timer. */
export async function settled(): Promise<void> {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve))
}

export class Play {
  readonly #world: World
  readonly #clock: ModelClock
  readonly #model: Model
  readonly chat: ChatClient
  /** What each thing that was begun came to: an outcome, or the code of an error. */
  readonly #results = new Map<number, string>()
  readonly #finishes: string[] = []
  readonly #told: string[] = []
  /** As a listener saw it last. */
  #seen: ChatSnapshot
  #ids = 0
  #begun = 0

  constructor(given: PlayOptions) {
    const { whenBusy, drain, maxSize, onOverflow, maxContinuations, resumes, ids } = given
    this.#world = new World({ ids })
    this.#clock = new ModelClock(this.#world)
    this.#model = new Model(this.#world, given)
    this.chat = new ChatClient({
      threadId: 't',
      connection: this.#world.connection(this.#clock, { resume: resumes ? 'auto' : 'off' }),
      generateId: (what) => `${what}${++this.#ids}`,
      now: () => this.#world.now,
      tools: this.#world.tools(),
      whenBusy: () => whenBusy,
      queue: { drain, maxSize, onOverflow },
      maxContinuations,
      logger: { warn: () => {}, error: () => {} },
      onFinish: ({ outcome }) => void this.#finishes.push(outcome),
      onToolCall: ({ toolCallId }) => void this.#told.push(toolCallId),
    })
    this.#seen = this.chat.getSnapshot()
    this.chat.subscribe(() => {
      this.#seen = this.chat.getSnapshot()
    })
  }

  /** Does one thing to both, and holds what came of it against what the model thinks of it. */
  async do(given: Command): Promise<void> {
    await this.#do(given)
    await this.#follow()
    this.#check()
  }

  async #do(given: Command): Promise<void> {
    const { chat } = this
    const model = this.#model
    const world = this.#world
    switch (given.do) {
      case 'send': {
        const id = given.taken ? (model.queue[0]?.id ?? model.users[0] ?? this.#name('u')) : this.#name('u')
        const text = this.#name('say ')
        const { whenBusy } = given
        return this.#both(
          given.kinds,
          (body) => chat.sendMessage({ content: text, id }, { body, ...(whenBusy !== undefined && { whenBusy }) }),
          (n, plan) => model.send(n, id, text, plan, whenBusy),
        )
      }
      case 'edit': {
        const before = model.users[given.nth] ?? 'nobody'
        const id = given.keeps ? before : this.#name('u')
        const content = this.#name('say ')
        return this.#both(
          given.kinds,
          (body) => chat.edit(before, given.keeps ? content : { content, id }, { body }),
          (n, plan) => model.edit(n, before, id, content, plan),
        )
      }
      case 'append': {
        const id = (given.keeps ? model.users[given.nth] : undefined) ?? this.#name('u')
        const content = this.#name('say ')
        return this.#both(
          given.kinds,
          (body) => chat.append({ id, role: 'user', parts: [{ type: 'text', content }] }, { body }),
          (n, plan) => model.append(n, id, content, plan),
        )
      }
      case 'reload':
        return this.#both(given.kinds, (body) => chat.reload({ body }), (n, plan) => model.reload(n, plan))
      case 'retry': {
        const n = await this.#start(chat.retry())
        const refused = model.retry(n)
        if (refused !== undefined) model.results.set(n, refused)
        return
      }
      case 'answer': {
        const toolCallId = model.calls.at(-1 - given.nth)
        if (toolCallId === undefined) return
        const output = this.#name('answer ')
        return this.#both(given.kinds, (body) => chat.addToolResult({ toolCallId, output }, { body }), (n, plan) => model.answer(n, toolCallId, output, plan))
      }
      case 'respond': {
        const id = model.questions[given.nth]?.id ?? model.questions[0]?.id ?? 'nobody'
        return this.#both(given.kinds, (body) => chat.respond(id, { status: given.status }, { body }), (n, plan) => model.respond(n, id, given.status, plan))
      }
      case 'approve': {
        const id = model.questions[given.nth]?.id ?? model.questions[0]?.id ?? 'nobody'
        const refused = (code: string | undefined): string | undefined => (code === 'unknown-interrupt' ? 'unknown-approval' : code)
        return this.#both(
          given.kinds,
          (body) => chat.approve(id, { approved: given.status === 'resolved' }, { body }),
          (n, plan) => refused(model.respond(n, id, 'resolved', plan)),
        )
      }
      case 'resume': {
        const count = model.questions.length - given.nth
        const entries = model.questions.slice(0, count).map(({ id }) => ({ interruptId: id, status: given.status }))
        return this.#both(given.kinds, (body) => chat.resume(entries, { body }), (n, plan) => model.resume(n, entries.length, given.status, plan))
      }
      case 'attach': {
        return model.attach(await this.#start(chat.attach()))
      }
      case 'cancel-queued': {
        const id = model.queue[given.n]?.id ?? 'nobody'
        return expect(chat.cancelQueued(id)).toBe(model.cancelQueued(id))
      }
      case 'set-messages': {
        // Coming back to a run that was left shows what was there before it.
        if (model.busy || model.returns) return
        const { messages } = chat.getSnapshot()
        const last = model.users[given.n]
        chat.setMessages(messages.slice(0, messages.findIndex(({ id }) => id === last) + 1))
        return model.keepTo(last)
      }
      case 'set-state':
        if (model.busy || model.returns) return
        model.failed = undefined
        model.state = { by: this.#name('user ') }
        return chat.setState(model.state)
      case 'wait':
        return this.#wait(given.ms)
      case 'trouble':
        world.server.treatments = [...given.treatments]
        return
      case 'stop':
        chat.stop()
        return model.stop()
      case 'detach':
        chat.detach()
        return model.detach()
      case 'clear':
        chat.clear()
        return model.clear()
      case 'cut':
        world.cut(given.cut)
        return model.broke(given.cut)
      case 'finish-tools':
        world.finishTools()
        await settled()
        return model.toolsDone()
      case 'release':
        return world.release(given.n)
    }
  }

  #name(what: string): string {
    return `${what}${++this.#ids}`
  }

  /** Time goes on, and what is due happens one after the other. */
  async #wait(ms: number): Promise<void> {
    const world = this.#world
    const end = world.now + ms
    while (this.#clock.next <= end) {
      world.now = this.#clock.next
      this.#clock.fire()
      await this.#follow()
    }
    world.now = end
  }

  async #follow(): Promise<void> {
    await settled()
    this.#model.settle()
  }

  /** Nothing is left behind when all is stopped, and what was given up has been given up. */
  async end(): Promise<void> {
    this.chat.stop()
    this.#model.stop()
    this.#world.server.treatments = []
    this.#world.release(100)
    await settled()
    for (let n = 0; this.#clock.pending > 0 && n < 10; n++) await this.#wait(10_000)
    expect([this.#begun - this.#results.size, this.#clock.pending, this.#world.server.open]).toEqual([0, 0, 0])
  }

  /** What comes of it is noted when it settles. */
  async #start(work: Promise<TurnResult | undefined>): Promise<number> {
    const n = this.#begun++
    work.then(
      (result) => this.#results.set(n, result?.outcome ?? 'none'),
      (error: { readonly code?: string }) => this.#results.set(n, error.code ?? String(error)),
    )
    await settled()
    return n
  }

  async #both(given: readonly Kind[], act: (body: { readonly plan: Plan }) => Promise<TurnResult>, model: (n: number, plan: Plan) => string | undefined): Promise<void> {
    const plan = { n: this.#begun, kinds: given }
    const n = await this.#start(act({ plan }))
    const refused = model(n, plan)
    if (refused !== undefined) this.#model.results.set(n, refused)
  }

  #check(): void {
    const model = this.#model
    const { messages, status, interrupts, queue, state } = this.chat.getSnapshot()
    expect({
      lines: linesOf(messages),
      status,
      state,
      interrupts: interrupts.map(({ id }) => id),
      unapproved: messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-call' && part.state === 'approval-requested' ? [part.id] : []))),
      queue: queue.map(({ id }) => id),
      finishes: this.#finishes,
      told: this.#told,
      executed: this.#world.executed,
      results: Object.fromEntries(this.#results),
      faults: [],
    }).toEqual({
      lines: model.lines,
      status: model.status,
      state: model.state,
      interrupts: model.asked,
      unapproved: model.unapproved,
      queue: model.queue.map(({ id }) => id),
      finishes: model.finishes,
      told: model.told,
      executed: model.executed,
      results: Object.fromEntries(model.results),
      faults: model.faults,
    })
    // Listeners were told of all there is to see.
    expect(this.#seen).toBe(this.chat.getSnapshot())
  }
}
