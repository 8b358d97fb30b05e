import { svelte } from '@sveltejs/vite-plugin-svelte'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import { chromeArgs, findChrome } from './tools/find-chrome.mjs'
import { sourceAliases } from './tools/source-aliases.mjs'

// Test kinds are told by file name; everything that is not a special kind is a plain `node` test.
//   x.test.ts         node      no service, no browser
//   x.dom.test.tsx    dom       happy-dom
//   x.browser.test.ts browser   runs inside Chromium
//   x.e2e.test.ts     e2e       runs in Node and drives Chromium with playwright-core
//   x.interop.test.ts interop   real peers over sockets
//   x.test-d.ts       types     checked by `tsc -b`, not run
const roots = ['packages/*/src', 'packages/*/test', 'apps/*', 'bench', 'tools', 'examples']
const files = (kind: string): string[] => roots.map((root) => `${root}/**/*${kind}.test.{ts,tsx}`)
const special = ['.dom', '.browser', '.e2e', '.interop']
const exclude = ['**/node_modules/**', '**/dist/**']

const executablePath = findChrome()

/** Compiles what tests have in `.svelte` files. */
const components = () => svelte({ configFile: false, compilerOptions: { dev: false }, emitCss: false })

export default defineConfig({
  resolve: { alias: sourceAliases() },
  test: {
    testTimeout: 20_000,
    projects: [
      {
        extends: true,
        plugins: [components()],
        test: {
          name: 'node',
          include: files(''),
          exclude: [...exclude, ...special.flatMap(files)],
        },
      },
      {
        extends: true,
        plugins: [components()],
        // Svelte and Solid have another build for servers, which is what Node is given by default.
        resolve: { conditions: ['browser', 'development'] },
        test: {
          name: 'dom',
          environment: 'happy-dom',
          include: files('.dom'),
          exclude,
          server: { deps: { inline: [/\/(svelte|solid-js)\//] } },
        },
      },
      {
        extends: true,
        // Found at start: a dependency met only later makes Vite reload the page under a running test.
        optimizeDeps: { include: ['fast-check', 'idb-keyval', 'react', 'react/jsx-dev-runtime', 'react-dom', 'react-dom/client'] },
        test: {
          name: 'browser',
          globalSetup: 'packages/client/test/contract-server.setup.ts',
          include: files('.browser'),
          exclude,
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({
              launchOptions: { args: chromeArgs(), ...(executablePath ? { executablePath } : {}) },
            }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
      {
        extends: true,
        test: { name: 'e2e', include: files('.e2e'), exclude, testTimeout: 60_000, hookTimeout: 120_000 },
      },
      {
        extends: true,
        test: { name: 'interop', include: files('.interop'), exclude, testTimeout: 30_000, hookTimeout: 60_000 },
      },
    ],
  },
})
