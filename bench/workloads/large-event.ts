/** One event that is large by itself. */
import { words } from './random.ts'
import type { Workload } from './stream.ts'
import { textStream } from './text.ts'

const MEBIBYTE = 2 ** 20

export const oneLargeEvent: Workload = {
  size: '1 MiB',
  make: () => textStream([words(MEBIBYTE / 4).join('').slice(0, MEBIBYTE)]),
}
