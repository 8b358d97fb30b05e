import { webStorage } from '@millrace/client'
import { describeStorage } from '../../test/storage-contract.ts'

describeStorage('webStorage(localStorage), happy-dom', () => webStorage(localStorage))
describeStorage('webStorage(sessionStorage), happy-dom', () => webStorage(() => sessionStorage, { prefix: 'app/' }))
