import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { sourceAliases } from '../../tools/source-aliases.mjs'

export default defineConfig(({ command }) => {
  const server = `http://127.0.0.1:${process.env['PORT'] ?? 3000}`
  // Whatever the shell has set, what is built is for production.
  if (command === 'build') process.env['NODE_ENV'] = 'production'
  return {
    plugins: [react()],
    publicDir: 'web/public',
    resolve: { alias: sourceAliases() },
    build: {
      outDir: 'dist/web',
      emptyOutDir: true,
      // Nothing inlined: the page's policy allows fonts and styles from its own origin only.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // Markdown is most of it, and it is served from the same machine.
      chunkSizeWarningLimit: 700,
    },
    server: { proxy: { '/api': server, '/demo': server } },
  }
})
