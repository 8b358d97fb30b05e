/**
 * A page of 5,000 messages while it is answered, in Chromium: ours, and the same page on the React hooks of others. Run as `npm run
 * bench -- page [--rounds N] [--cap SECONDS] [--markdown] [--json FILE]`, which says where Chromium is.
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { LaunchOptions } from 'playwright-core'
import { readCommand, type Command } from './command.ts'
import { machine } from './figures.ts'
import { CLIENTS, type ClientName } from './page/plan.ts'
import { samplePage, type PageSample, type SampleOptions } from './page/sample.ts'
import { servePage } from './page/server.ts'
import { PAGE_TABLES, pageAim, pageFailures, pageGrid, type PageCell, type PageRows, type PageTable } from './page/tables.ts'
import { asMarkdown, asText } from './table.ts'

const PAGE = fileURLToPath(new URL('../page/dist/', import.meta.url))

function browserOf({ CHROME_PATH, CHROME_ARGS }: NodeJS.ProcessEnv): LaunchOptions {
  if (CHROME_PATH === undefined) throw new Error('the page bench needs CHROME_PATH; `npm run bench` sets it')
  return { executablePath: CHROME_PATH, args: (CHROME_ARGS ?? '').split(' ').filter((arg) => arg !== '') }
}

/** Round by round, the clients one after the other, each time in a browser of its own. */
async function measure({ plan }: PageTable, rounds: number, options: SampleOptions): Promise<PageRows> {
  const samples = new Map<ClientName, PageSample[]>(CLIENTS.map((name) => [name, []]))
  const ended = new Map<ClientName, PageCell>()
  for (let round = 0; round < rounds; round++) {
    for (const [client, before] of samples) {
      if (ended.has(client)) continue
      try {
        const found = await samplePage({ ...plan, client }, options)
        if (found === undefined) ended.set(client, { kind: 'capped' })
        else before.push(found)
      } catch (error) {
        ended.set(client, { kind: 'failed', reason: error instanceof Error ? (error.message.split('\n')[0] as string) : String(error) })
      }
    }
  }
  return Object.fromEntries(CLIENTS.map((name) => [name, ended.get(name) ?? { kind: 'measured', samples: samples.get(name) }])) as PageRows
}

async function run({ rounds, capMs, style, json }: Command): Promise<void> {
  const launch = browserOf(process.env)
  const server = await servePage(PAGE)
  const done: { readonly title: string; readonly rows: PageRows }[] = []
  const [strong, grid] = style === 'markdown' ? [(title: string) => `**${title}**\n`, asMarkdown] : [(title: string) => title, asText]
  console.log(`${machine()}. Times in ms; medians of ${rounds} browsers, stopped after ${capMs / 1_000} s an answer.\n`)
  try {
    for (const table of PAGE_TABLES) {
      const rows = await measure(table, rounds, { server, launch, capMs })
      done.push({ title: table.title, rows })
      console.log([strong(table.title), grid(pageGrid(rows, capMs)), ...pageFailures(rows).map((line) => `  no figure: ${line}`), ''].join('\n'))
    }
    console.log(pageAim(done))
    if (json !== undefined) writeFileSync(json, `${JSON.stringify({ machine: machine(), date: new Date().toISOString(), rounds, capMs, tables: done }, undefined, 2)}\n`)
  } finally {
    await server.close()
  }
}

try {
  await run(readCommand(process.argv.slice(2)))
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 2
}
