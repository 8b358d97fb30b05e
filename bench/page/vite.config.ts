import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { sourceAliases } from '../../tools/source-aliases.mjs'

export default defineConfig(({ command }) => {
  // Whatever the shell has set, what is built is for production.
  if (command === 'build') process.env['NODE_ENV'] = 'production'
  return {
    plugins: [react()],
    resolve: { alias: sourceAliases(), dedupe: ['react', 'react-dom'] },
    build: { outDir: 'dist', emptyOutDir: true, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 700 },
  }
})
