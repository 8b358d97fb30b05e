// Entry of the command line.
import { createProgram, run } from './program.ts'
import { processTerminal } from './terminal.ts'

const terminal = processTerminal()
await run(createProgram(terminal), process.argv.slice(2), terminal)
