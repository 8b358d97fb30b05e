/** The public names of @millrace/testkit. */
export { bigRun, recordedRun, type RecordedKind, type RecordedOptions } from './runs/recorded.ts'

export { startFaultServer, type FaultServer, type FaultServerOptions, type Faults } from './server/fault-server.ts'
export * from './server/fault.ts'
export * as catalogue from './server/catalogue.ts'
export type { IdStyle } from './server/ids.ts'
export { selfSigned, type Credentials } from './server/self-signed.ts'
export type { ResumeBy } from './server/context.ts'
export type { Did, LoggedRequest, Transport } from './server/request-log.ts'
export type { HydratedThread, RunInput, Script, ScriptItem } from './server/runs.ts'
export type { Ended, Timer } from './server/spout.ts'
