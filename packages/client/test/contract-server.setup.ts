/** The contract server for tests that run in a browser, which cannot start one: Vitest starts it beside them. */
import type { TestProject } from 'vitest/node'
import { startContractServer, type ContractServer } from './contract-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    contractServer: string
  }
}

let server: ContractServer | undefined

export async function setup(project: TestProject): Promise<void> {
  server = await startContractServer()
  project.provide('contractServer', server.url)
}

export async function teardown(): Promise<void> {
  await server?.close()
}
