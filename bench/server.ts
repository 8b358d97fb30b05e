/** The server of one column, in a process of its own: `server.js GROUP TABLE COLUMN`, numbers from 0. It ends with who started it. */
import { findColumn } from './groups.ts'
import { serveCut } from './serving/cut-server.ts'
import { serveStream } from './serving/stream-server.ts'
import type { Served } from './sample.ts'

const { table, column } = findColumn(process.argv.slice(2))
const stream = column.workload.make()
const { url } = await (column.breaks === undefined ? serveStream(stream, table.cuts) : serveCut(stream, column.breaks))
process.on('disconnect', () => process.exit())
process.send?.({ url } satisfies Served)
