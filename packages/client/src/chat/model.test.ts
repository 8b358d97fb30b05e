/** A chat against a model of it: whatever is done in whatever order, it shows what it should, and everything settles. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ChatClient, defineTool } from '@millrace/client'
import { linesOf, Model, World, type Command, type Kind } from '../../test/chat-model.ts'

/** Until everything has come of what was done: the event loop turns a few times, and nothing here waits for a timer. */
async function settled(): Promise<void> {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve))
}

const kind = fc.constantFrom<Kind>('text', 'text', 'text', 'asks-us', 'calls-auto', 'interrupts', 'fails')
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('send' as const), kind }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('release' as const), events: fc.integer({ min: 1, max: 8 }) }) },
  fc.record({ do: fc.constant('edit' as const), nth: fc.nat(3), kind }),
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('reload' as const, 'retry' as const, 'answer' as const, 'respond' as const), kind }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('stop' as const, 'detach' as const, 'attach' as const, 'attach' as const, 'clear' as const, 'cut' as const) }) },
)

class Run {
  readonly world = new World()
  readonly model = new Model(this.world)
  readonly chat: ChatClient
  #ids = 0
  readonly codes: string[] = []
  open = 0

  constructor() {
    this.chat = new ChatClient({
      threadId: 't',
      connection: this.world.connection,
      generateId: (what) => `${what}${++this.#ids}`,
      tools: [defineTool({ name: 'ask', description: 'd' }), defineTool({ name: 'auto', description: 'd', execute: () => 'auto' })],
      logger: { warn: () => {}, error: () => {} },
    })
  }

  /** Waits for nothing: what comes of it shows, and its promise is counted until it settles. */
  #start(work: Promise<unknown>): void {
    this.open++
    work.then(
      () => this.open--,
      (error: { readonly code?: string }) => {
        this.open--
        this.codes.push(error.code ?? String(error))
      },
    )
  }

  async refused(): Promise<string | undefined> {
    for (let n = 0; n < 3; n++) await Promise.resolve()
    return this.codes.shift()
  }

  /** Does one thing to both. Gives what the chat refused it with, and what the model thinks of it. */
  async do(given: Command): Promise<void> {
    const { chat, model, world } = this
    const waits = model.interrupt !== undefined
    switch (given.do) {
      case 'send': {
        const id = model.newUser()
        world.next = given.kind
        this.#start(chat.sendMessage({ content: id, id }))
        const refused = model.busy ? 'busy' : waits ? 'interrupts-pending' : undefined
        expect(await this.refused()).toBe(refused)
        if (refused !== undefined) return
        model.say(id)
        return model.begin()
      }
      case 'edit': {
        const before = model.users[given.nth]
        const id = model.newUser()
        world.next = given.kind
        this.#start(chat.edit(before ?? 'nobody', { content: id, id }))
        const refused = waits ? 'interrupts-pending' : before === undefined ? 'unknown-message' : undefined
        expect(await this.refused()).toBe(refused)
        if (refused !== undefined) return
        model.stop()
        model.cutBefore(before as string)
        model.say(id)
        return model.begin()
      }
      case 'reload': {
        world.next = given.kind
        this.#start(chat.reload())
        const refused = waits ? 'interrupts-pending' : model.hasUser ? undefined : 'nothing-to-reload'
        expect(await this.refused()).toBe(refused)
        if (refused !== undefined) return
        model.stop()
        model.cutAfterLastUser()
        return model.begin()
      }
      case 'retry': {
        world.next = given.kind
        this.#start(chat.retry())
        const refused = model.busy ? 'busy' : model.failed === undefined ? 'nothing-to-retry' : undefined
        expect(await this.refused()).toBe(refused)
        if (refused !== undefined) return
        model.cutFailed()
        return model.begin()
      }
      case 'answer': {
        world.next = given.kind
        const call = model.openCall
        if (call === undefined || model.busy) return
        this.#start(chat.addToolResult({ toolCallId: call, output: 'ours' }))
        expect(await this.refused()).toBeUndefined()
        model.answerOpenCall()
        return model.begin()
      }
      case 'respond': {
        world.next = given.kind
        this.#start(chat.respond(model.interrupt ?? 'nobody', { status: 'resolved' }))
        const refused = model.busy ? 'busy' : waits ? undefined : 'unknown-interrupt'
        expect(await this.refused()).toBe(refused)
        if (refused !== undefined) return
        return model.begin()
      }
      case 'attach':
        this.#start(chat.attach())
        // What was released meanwhile is read at once, and what it calls is run.
        await settled()
        return model.attach()
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
      case 'release':
        world.release(given.events)
        await settled()
        return model.progress()
    }
  }

  async check(): Promise<void> {
    await settled()
    this.model.progress()
    const { chat, model } = this
    const { status, interrupts } = chat.getSnapshot()
    expect({ lines: linesOf(chat), status, interrupt: interrupts[0]?.id }).toEqual({ lines: model.lines, status: model.status, interrupt: model.question })
  }
}

/** More in CI. */
const RUNS = Number(process.env['MILLRACE_MODEL_RUNS'] ?? 1_000)

it(`shows what it should, ${RUNS} sequences`, { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 20 }), async (commands) => {
      const run = new Run()
      for (const one of commands) {
        await run.do(one)
        await run.check()
      }
      run.chat.stop()
      await settled()
      expect(run.open).toBe(0)
      expect(run.codes).toEqual([])
    }),
    { numRuns: RUNS },
  )
})
