import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'
import { examplePage } from '../../tools/example-page.mjs'

export default defineConfig(examplePage({ plugins: [svelte({ configFile: false })] }))
