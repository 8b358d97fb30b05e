/** Shows the page that the address asks for, and hands it to the driver. */
import type { ReactElement } from 'react'
import { createRoot } from 'react-dom/client'
import { chatPageOf } from './chat-page.tsx'
import type { Client } from './client.ts'
import { conversation } from './conversation.ts'
import { TOLD, type Told } from './observed.ts'
import { planOf, type ClientName, type Plan } from './plan.ts'
import { painted, probe } from './probe.ts'

function pageOf<Message extends { readonly id: string }>(client: Client<Message>, plan: Plan): ReactElement {
  const ChatPage = chatPageOf(client)
  return <ChatPage history={client.historyOf(conversation(plan.messages))} plan={plan} />
}

/** A page loads the one client it plays. */
const pages: Readonly<Record<ClientName, (plan: Plan) => Promise<ReactElement>>> = {
  millrace: async (plan) => pageOf((await import('./clients/millrace.ts')).millrace, plan),
  tanstack: async (plan) => pageOf((await import('./clients/tanstack.ts')).tanstack, plan),
  ai: async (plan) => pageOf((await import('./clients/ai-sdk.ts')).aiSdk, plan),
}

/** The time until the history was on its way to the screen, in ms. */
async function show(plan: Plan): Promise<number> {
  const page = await pages[plan.client](plan)
  const start = performance.now()
  createRoot(document.querySelector('#app') as HTMLElement).render(page)
  while (probe.shown.messages < plan.messages) await painted()
  return (await painted()) - start
}

/** Settles when it has arrived: what it takes to tell is no part of what is watched. */
async function tell(told: Told): Promise<void> {
  await fetch(TOLD, { method: 'POST', body: JSON.stringify(told) })
}

async function play(): Promise<void> {
  const query = new URLSearchParams(location.search)
  const ms = await show(planOf(query))
  // Somebody looks at it with a browser of their own, and asks by hand.
  if (!query.has('driven')) return
  await tell({ kind: 'opened', ms })
  const form = document.querySelector('form') as HTMLFormElement
  const observed = await probe.watch(() => form.requestSubmit())
  const shown = [...document.querySelectorAll('.row')].at(-1)?.querySelector('p')?.textContent ?? ''
  await tell({ kind: 'observed', observed: { ...observed, shown, heapMb: heapMb() } })
}

/** Chromium is started with what this takes. */
function heapMb(): number {
  const { gc, performance: own } = window as { gc?: () => void; performance: { memory?: { usedJSHeapSize: number } } }
  gc?.()
  return (own.memory?.usedJSHeapSize ?? Number.NaN) / 1e6
}

const fail = (reason: unknown): void => void tell({ kind: 'failed', reason: String(reason) })
// Without an error it is a remark of the browser, such as that sizes are told a frame later.
window.addEventListener('error', ({ error }) => error != null && fail(error))
play().catch(fail)
