import { bindingContract } from '../../testkit/test/binding-contract.ts'
import { svelteBinding } from '../test/page.ts'

bindingContract(svelteBinding)
