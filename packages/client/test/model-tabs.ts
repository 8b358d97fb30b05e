/**
 * A browser with tabs that open, freeze, come back and go, over one disk and one server in memory. Nothing in it waits for a
 * timer: time goes on when it is told to.
 */
import { memoryStorage, sharedTabs, type ChatClient, type ChatStorage, type TabChannel } from '@millrace/client'
import { FakeTabs } from './fake-tabs.ts'
import { ModelClock } from './model-clock.ts'
import { World } from './model-world.ts'
import { openPage, type Page } from './pages.ts'

export type Agreement = 'locks' | 'channel'

/** Whose the thread is. */
export type Mode = 'client' | 'server'

/** Lets nothing in while it is shut. */
class Gate {
  #held: (() => void)[] | undefined

  readonly pass = (): Promise<void> | undefined => (this.#held === undefined ? undefined : new Promise((resolve) => this.#held?.push(resolve)))

  through(act: () => void): void {
    if (this.#held === undefined) act()
    else this.#held.push(act)
  }

  get shut(): boolean {
    return this.#held !== undefined
  }

  set shut(shut: boolean) {
    const held = this.#held ?? []
    this.#held = shut ? held : undefined
    if (!shut) for (const act of held) act()
  }
}

export class Tab {
  readonly chat: ChatClient
  readonly #page: Page
  readonly #gate = new Gate()
  readonly #clock: ModelClock
  readonly #channels: TabChannel[] = []
  readonly #locks: ReturnType<FakeTabs['locks']>
  #lagging: unknown

  constructor(browser: Browser, id: string) {
    const { world, tabs } = browser
    const disk: ChatStorage = { ...browser.disk, load: (key) => (this.#lagging === undefined ? browser.disk.load(key) : structuredClone(this.#lagging)) }
    const locks = tabs.locks()
    this.#locks = locks
    this.#clock = new ModelClock(world)
    const gate = this.#gate
    const channel = (name: string): TabChannel => {
      const inner = tabs.channel(name)
      this.#channels.push(inner)
      return {
        get onmessage() {
          return inner.onmessage
        },
        set onmessage(listener) {
          inner.onmessage = listener === null ? null : (event) => gate.through(() => listener(event))
        },
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
        postMessage: (message) => inner.postMessage(message),
        close: () => inner.close(),
      }
    }
    this.#page = openPage(
      disk,
      undefined,
      {
        threadId: 't',
        connection: world.connection(this.#clock, { pass: this.#gate.pass, threads: browser.mode === 'server' }),
        tools: world.tools(this.#gate.pass),
        now: () => world.now,
        logger: { warn: () => {}, error: () => {} },
      },
      { clock: this.#clock, mode: browser.mode, tabs: sharedTabs({ channel, locks: browser.agreement === 'locks' ? locks : null, id, clock: this.#clock }) },
    )
    this.chat = this.#page.chat
  }

  /** Goes on seeing what is stored now, as a browser shows one of its processes late what another has stored. */
  lag(on: boolean, stored?: unknown): void {
    this.#lagging = on ? stored : undefined
  }

  get frozen(): boolean {
    return this.#gate.shut
  }

  /** Nothing reaches the page before it comes back. */
  freeze(): void {
    this.#gate.shut = true
  }

  comeBack(): void {
    this.#gate.shut = false
    this.#clock.fire()
  }

  fire(): void {
    if (!this.frozen) this.#clock.fire()
  }

  /** The page is gone: with a word of it, or without. */
  close(how: 'closed' | 'crashed'): void {
    if (how === 'closed') this.#page.window.hide()
    this.#page.crash()
    this.freeze()
    this.#locks.gone()
    for (const channel of this.#channels) {
      channel.onmessage = null
      channel.close()
    }
  }
}

export class Browser {
  readonly world: World
  readonly tabs = new FakeTabs((deliver) => void setImmediate(deliver))
  readonly disk: ChatStorage = memoryStorage()
  readonly agreement: Agreement
  readonly mode: Mode
  readonly open: Tab[] = []
  #count = 0

  constructor(agreement: Agreement, mode: Mode = 'client') {
    this.agreement = agreement
    this.mode = mode
    this.world = new World({ hears: true })
  }

  openTab(): Tab {
    const tab = new Tab(this, `tab-${this.#count++}`)
    this.open.push(tab)
    return tab
  }

  closeTab(tab: Tab, how: 'closed' | 'crashed'): void {
    this.open.splice(this.open.indexOf(tab), 1)
    tab.close(how)
  }

  wait(ms: number): void {
    this.world.now += ms
    for (const tab of this.open) tab.fire()
  }
}
