import { program } from '../tools/tsdown-base.mjs'

export default program({ entry: ['*.ts', '!*.test.ts'] })
