import { bindingContract } from '../../testkit/test/binding-contract.ts'
import { solidBinding } from '../test/page.ts'

bindingContract(solidBinding)
