// What a page pays: the size of a few entries, bundled from source, minified and compressed as a server would send
// them. `node tools/size.mjs` prints the table; `size.test.ts` holds each entry to its ceiling.
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { sourceAliases } from './source-aliases.mjs'

/**
 * `ceiling` is a ratchet in bytes of gzip: a little above what the entry weighs, lowered when it gets lighter. `aim` is
 * the budget of the design, where it differs.
 * @typedef {{ name: string, from: string, exports: string[], ceiling: number, aim?: number }} Entry
 */

/** @type {readonly Entry[]} */
export const entries = [
  { name: 'framing', from: '@millrace/protocol', exports: ['SseDecoder'], ceiling: 1_400 },
  { name: 'verifier', from: '@millrace/protocol', exports: ['EventVerifier'], ceiling: 11_400 },
  { name: 'fold', from: '@millrace/protocol', exports: ['ThreadBuilder'], ceiling: 7_300 },
  { name: 'core: bytes to thread', from: '@millrace/protocol', exports: ['SseDecoder', 'ThreadReader'], ceiling: 18_300, aim: 10_240 },
  { name: 'protobuf', from: '@millrace/protocol/proto', exports: ['decodeEvent', 'encodeEvent'], ceiling: 9_000 },
  { name: 'ChatClient, fetch SSE', from: '@millrace/client', exports: ['ChatClient', 'fetchServerSentEvents'], ceiling: 31_000, aim: 16_384 },
]

const VIRTUAL = '\0entry'

/**
 * @param {Pick<Entry, 'from' | 'exports'>} entry
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
    build: { write: false, minify: true, target: 'es2022', rolldownOptions: { input: VIRTUAL, preserveEntrySignatures: 'strict' } },
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
