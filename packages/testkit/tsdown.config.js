import { library } from '../../tools/tsdown-base.mjs'

export default library({ platform: 'node' })
