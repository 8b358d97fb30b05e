// What a page pays: the size of a few entries, bundled from source, minified and compressed as a server would send
// them. `node tools/size.mjs` prints the table; `size.test.ts` holds each entry to its ceiling.
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { sourceAliases } from './source-aliases.mjs'

/**
 * `ceiling` is a ratchet in bytes of gzip: a little above what the entry weighs, lowered when it gets lighter. `aim` is
 * the budget of the design, where it differs. `beside`: the client and the framework are not counted.
 * @typedef {{ name: string, from: string, exports: string[], ceiling: number, aim?: number, beside?: boolean }} Entry
 */

/** @type {readonly Entry[]} */
export const entries = [
  { name: 'framing', from: '@millrace/protocol', exports: ['SseDecoder'], ceiling: 1_400 },
  { name: 'verifier', from: '@millrace/protocol', exports: ['EventVerifier'], ceiling: 8_900 },
  { name: 'fold', from: '@millrace/protocol', exports: ['ThreadBuilder'], ceiling: 6_800 },
  { name: 'core: bytes to thread', from: '@millrace/protocol', exports: ['SseDecoder', 'ThreadReader'], ceiling: 15_600, aim: 10_240 },
  { name: 'protobuf', from: '@millrace/protocol/proto', exports: ['decodeEvent', 'encodeEvent'], ceiling: 6_200 },
  { name: 'ChatClient, fetch SSE', from: '@millrace/client', exports: ['ChatClient', 'fetchServerSentEvents'], ceiling: 57_600, aim: 16_384 },
  { name: 'and a stored thread in step', from: '@millrace/client', exports: ['ChatClient', 'fetchServerSentEvents', 'persisted', 'webStorage', 'sharedTabs'], ceiling: 64_800 },
  // On top of the client and the framework, which are not counted.
  { name: 'React binding', from: '@millrace/react', exports: ['useChat', 'useChatSelector', 'ChatProvider', 'useChatClient'], ceiling: 750, aim: 1_536, beside: true },
  { name: 'Vue binding', from: '@millrace/vue', exports: ['useChat', 'useChatSelector', 'provideChatClient', 'useChatClient'], ceiling: 850, aim: 1_536, beside: true },
  { name: 'Svelte binding', from: '@millrace/svelte', exports: ['createChat', 'createChatSelector', 'setChatClient', 'getChatClient'], ceiling: 800, aim: 1_536, beside: true },
  { name: 'Solid binding', from: '@millrace/solid', exports: ['createChat', 'createChatSelector', 'ChatProvider', 'useChatClient'], ceiling: 750, aim: 1_536, beside: true },
]

/** What a binding stands beside: the client and its framework. */
const besides = /^(@millrace\/client|react|vue|svelte|solid-js)(\/|$)/

const VIRTUAL = '\0entry'

/**
 * @param {Pick<Entry, 'from' | 'exports' | 'beside'>} entry
 * @returns {Promise<{ minified: number, gzip: number }>} in bytes
 */
export async function sizeOf(entry) {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    resolve: { alias: sourceAliases() },
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === VIRTUAL ? id : undefined),
        load: (id) => (id === VIRTUAL ? `export { ${entry.exports.join(', ')} } from '${entry.from}'` : undefined),
      },
    ],
    build: { write: false, minify: true, target: 'es2022', rolldownOptions: { input: VIRTUAL, preserveEntrySignatures: 'strict', ...(entry.beside && { external: besides }) } },
  })
  const chunks = [result].flat().flatMap((bundle) => ('output' in bundle ? bundle.output : []))
  const code = chunks.find((chunk) => chunk.type === 'chunk')?.code ?? ''
  return { minified: Buffer.byteLength(code), gzip: gzipSync(code, { level: 9 }).length }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const rows = []
  for (const entry of entries) {
    const { minified, gzip } = await sizeOf(entry)
    rows.push({ entry: entry.name, minified, gzip, ceiling: entry.ceiling, aim: entry.aim ?? '' })
  }
  console.table(rows)
}
