/** A module of the tests as the one script of a page. */
import { build } from 'vite'
import { sourceAliases } from '../../../tools/source-aliases.mjs'

/** The document that runs it, bundled from source. */
export async function bundledPage(path: string): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    resolve: { alias: sourceAliases() },
    build: { write: false, rolldownOptions: { input: path } },
  })
  const chunks = [result].flat().flatMap((bundle) => ('output' in bundle ? bundle.output : []))
  const code = chunks.find((chunk) => chunk.type === 'chunk')?.code ?? ''
  return `<!doctype html><title>tab</title><script type="module">${code.replaceAll('</script', '<\\/script')}</script>`
}
