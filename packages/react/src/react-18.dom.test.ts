import { createRequire } from 'node:module'
import { version } from 'react'
import { expect, it, vi } from 'vitest'
import { bindingContract } from '../../testkit/test/binding-contract.ts'
import { lifetimeContract } from '../../testkit/test/lifetime-contract.ts'
import { reactBinding } from '../test/page.ts'

vi.mock('react', async () => {
  const { createRequire: requireFrom } = await import('node:module')
  return requireFrom(import.meta.url)('../../../tools/react-18/index.cjs').react
})
const { createRoot } = createRequire(import.meta.url)('../../../tools/react-18/index.cjs').client

;(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true

it('runs on React 18', () => expect(version).toMatch(/^18\./))

bindingContract(reactBinding('React 18', createRoot))
lifetimeContract(reactBinding('React 18, Strict Mode', createRoot, 'strict'))
