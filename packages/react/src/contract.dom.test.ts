import { version } from 'react'
import { createRoot } from 'react-dom/client'
import { expect, it } from 'vitest'
import { bindingContract } from '../../testkit/test/binding-contract.ts'
import { lifetimeContract } from '../../testkit/test/lifetime-contract.ts'
import { reactBinding } from '../test/page.ts'

;(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true

it('runs on React 19', () => expect(version).toMatch(/^19\./))

bindingContract(reactBinding('React 19', createRoot))
lifetimeContract(reactBinding('React 19, Strict Mode', createRoot, 'strict'))
