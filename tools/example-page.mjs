// How the pages of examples/ are built: each with the plugin of its framework, all with one stylesheet.
import { fileURLToPath } from 'node:url'
import { sourceAliases } from './source-aliases.mjs'

const shared = fileURLToPath(new URL('../examples/shared/public/', import.meta.url))

/**
 * @param {import('vite').UserConfig} [own] what the page adds
 * @returns {import('vite').UserConfigFnObject}
 */
export const examplePage = (own = {}) => ({ command }) => {
  // Whatever the shell has set, what is built is for production.
  if (command === 'build') process.env.NODE_ENV = 'production'
  return {
    publicDir: shared,
    resolve: { alias: sourceAliases() },
    server: { proxy: { '/api': `http://127.0.0.1:${process.env.PORT ?? 3000}` } },
    ...own,
    // Nothing inlined: the policy of the demo's server allows what comes from its own origin only.
    build: { outDir: 'dist', emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false }, ...own.build },
  }
}
