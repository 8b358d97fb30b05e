// The page itself is not built: it goes out as it stands, and beside it the client as one file.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'
import { examplePage } from '../../tools/example-page.mjs'

const client = fileURLToPath(new URL('../../packages/client/src/index.ts', import.meta.url))
const page = fileURLToPath(new URL('./index.html', import.meta.url))

const asItStands: Plugin = {
  name: 'page-as-it-stands',
  buildStart() {
    this.addWatchFile(page)
  },
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'index.html', source: readFileSync(page) })
  },
}

export default defineConfig(
  examplePage({
    plugins: [asItStands],
    build: {
      target: 'es2022',
      rolldownOptions: {
        input: { millrace: client },
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: '[name].js' },
      },
    },
  }),
)
