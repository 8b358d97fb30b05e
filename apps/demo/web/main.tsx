import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import './styles/tokens.css'
import './styles/base.css'
import './styles/layout.css'
import './styles/chat.css'
import './styles/markdown.css'
import './styles/cards.css'
import './styles/panel.css'

const root = document.getElementById('root')
if (root === null) throw new Error('no #root in the page')
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
