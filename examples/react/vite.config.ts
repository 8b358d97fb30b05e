import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { examplePage } from '../../tools/example-page.mjs'

export default defineConfig(examplePage({ plugins: [react()] }))
