import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vite'
import { examplePage } from '../../tools/example-page.mjs'

export default defineConfig(examplePage({ plugins: [vue()] }))
