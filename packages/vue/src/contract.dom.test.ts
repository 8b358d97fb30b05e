import { bindingContract } from '../../testkit/test/binding-contract.ts'
import { vueBinding } from '../test/page.ts'

bindingContract(vueBinding)
