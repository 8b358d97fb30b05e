import { library } from '../../tools/tsdown-base.mjs'

export default library({ entry: ['src/index.ts', 'src/indexeddb.ts', 'src/recording.ts'] })
