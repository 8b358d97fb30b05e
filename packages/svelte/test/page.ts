/** The page of the contract, made with Svelte. */
import { flushSync, mount, tick, unmount, type Component } from 'svelte'
import type { Binding, ViewProps } from '../../testkit/test/binding-contract.ts'
import Page from './Page.svelte'
import Provided from './Provided.svelte'
import Providing from './Providing.svelte'

interface PageExports {
  update(views: readonly ViewProps[]): void
}

function show(page: HTMLElement, component: unknown, props: Record<string, unknown> = {}) {
  const exports = mount(component as Component, { target: page, props }) as PageExports
  flushSync()
  return { exports, unmount: () => unmount(exports) }
}

export const svelteBinding: Binding = {
  name: 'Svelte',
  async act(work) {
    await work()
    await tick()
  },
  async mount(page, first) {
    const { exports, unmount } = show(page, Page, { first })
    const update = async (views: readonly ViewProps[]): Promise<void> => {
      exports.update(views)
      await tick()
    }
    return { update, unmount }
  },
  mountProvided: async (page, client) => show(page, Providing, { client }),
  async mountWithoutProvider(page) {
    try {
      return show(page, Provided)
    } catch (error) {
      return error
    }
  },
}
