/** A chat against a model of it: whatever is done in whatever order, it shows what it should, and everything settles. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ChatClient, type ChatSnapshot, type TurnResult, type WhenBusy } from '@millrace/client'
import { Model, type ModelOptions } from '../../test/chat-model.ts'
import { linesOf, World, type Kind, type Plan } from '../../test/model-world.ts'

/** Until everything has come of what was done: the event loop turns a few times, and nothing here waits for a timer. */
async function settled(): Promise<void> {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve))
}

const plain = ['stop', 'detach', 'attach', 'clear', 'cut', 'finish-tools', 'wait', 'set-state', 'retry'] as const

type Command =
  | { readonly do: 'send'; readonly kinds: readonly Kind[]; readonly whenBusy: WhenBusy | undefined; readonly taken: boolean }
  | { readonly do: 'edit' | 'append'; readonly kinds: readonly Kind[]; readonly nth: number; readonly keeps: boolean }
  | { readonly do: 'answer' | 'respond' | 'approve' | 'resume'; readonly kinds: readonly Kind[]; readonly nth: number; readonly status: 'resolved' | 'cancelled' }
  | { readonly do: 'reload'; readonly kinds: readonly Kind[] }
  | { readonly do: 'release' | 'set-messages' | 'cancel-queued'; readonly n: number }
  | { readonly do: (typeof plain)[number] }

const kind = fc.constantFrom<Kind>('text', 'text', 'asks', 'asks-two', 'auto', 'slow', 'auto-and-asks', 'slow-and-asks', 'question', 'questions', 'questions', 'approval', 'approval', 'fails', 'state')
const kinds = fc.oneof(
  { weight: 6, arbitrary: fc.array(kind, { minLength: 1, maxLength: 3 }) },
  // Long enough to be too many.
  { weight: 1, arbitrary: fc.constant<readonly Kind[]>(['auto', 'auto', 'text']) },
)
const policy = fc.constantFrom<WhenBusy>('refuse', 'queue', 'queue', 'drop', 'interrupt')
const nth = fc.nat(3)
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('send' as const), kinds, whenBusy: fc.option(policy, { nil: undefined }), taken: fc.nat(9).map((n) => n === 0) }) },
  { weight: 7, arbitrary: fc.record({ do: fc.constant('release' as const), n: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('edit' as const, 'append' as const), kinds, nth, keeps: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('answer' as const, 'answer' as const, 'respond' as const, 'respond' as const, 'approve' as const, 'resume' as const),
      kinds,
      nth: fc.nat(1),
      status: fc.constantFrom('resolved' as const, 'resolved' as const, 'cancelled' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reload' as const), kinds }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('set-messages' as const, 'cancel-queued' as const), n: fc.nat(5) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom(...plain, 'detach' as const, 'attach' as const, 'attach' as const) }) },
)
const options: fc.Arbitrary<ModelOptions> = fc.record({
  whenBusy: policy,
  drain: fc.constantFrom('fifo' as const, 'batch' as const),
  maxSize: fc.nat(2),
  onOverflow: fc.constantFrom('refuse' as const, 'drop-oldest' as const),
  maxContinuations: fc.constantFrom(1, 25),
})

/** A chat and its model, side by side. */
class Play {
  readonly #world = new World()
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

  constructor(given: ModelOptions) {
    const { whenBusy, drain, maxSize, onOverflow, maxContinuations } = given
    this.#model = new Model(this.#world, given)
    this.chat = new ChatClient({
      threadId: 't',
      connection: this.#world.connection(),
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

  get unsettled(): number {
    return this.#begun - this.#results.size
  }

  /** Does one thing to both, and holds what the chat refused it with against what the model thinks of it. */
  async do(given: Command): Promise<void> {
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
        const n = this.#start(chat.retry())
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
        const n = this.#start(chat.attach())
        await settled()
        return model.attach(n)
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
        world.now += 120
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
        world.cut()
        return model.broke()
      case 'finish-tools':
        world.finishTools()
        await settled()
        return model.toolsDone()
      case 'release':
        world.release(given.n)
        await settled()
        return model.progress()
    }
  }

  #name(what: string): string {
    return `${what}${++this.#ids}`
  }

  /** Waits for nothing: what comes of it is noted when it settles. */
  #start(work: Promise<TurnResult | undefined>): number {
    const n = this.#begun++
    work.then(
      (result) => this.#results.set(n, result?.outcome ?? 'none'),
      (error: { readonly code?: string }) => this.#results.set(n, error.code ?? String(error)),
    )
    return n
  }

  #both(given: readonly Kind[], act: (body: { readonly plan: Plan }) => Promise<TurnResult>, model: (n: number, plan: Plan) => string | undefined): void {
    const plan = { n: this.#begun, kinds: given }
    const n = this.#start(act({ plan }))
    const refused = model(n, plan)
    if (refused !== undefined) this.#model.results.set(n, refused)
  }

  async check(): Promise<void> {
    await settled()
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

/** More in CI. */
const RUNS = Number(process.env['MILLRACE_MODEL_RUNS'] ?? 1_000)

it(`shows what it should, ${RUNS} sequences`, { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(options, fc.array(command, { maxLength: 30, size: 'max' }), async (given, commands) => {
      const play = new Play(given)
      for (const one of commands) {
        await play.do(one)
        await play.check()
      }
      play.chat.stop()
      await settled()
      expect(play.unsettled).toBe(0)
    }),
    { numRuns: RUNS },
  )
})
