import { program } from '../../tools/tsdown-base.mjs'

export default program({ entry: ['server.ts'], clean: ['dist/*.js'] })
