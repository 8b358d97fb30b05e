import { defineConfig } from 'vite'
import solid from 'vite-plugin-solid'
import { examplePage } from '../../tools/example-page.mjs'

export default defineConfig(examplePage({ plugins: [solid()] }))
