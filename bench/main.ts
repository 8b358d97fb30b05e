/**
 * `npm run bench [-- [NAME…] [--rounds N] [--cap SECONDS] [--json FILE] [--markdown]]`: our path, the floor and the clients of
 * others on the same streams, in groups of tables. Without names all groups; a part's bench runs only when it is named.
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readCommand, type Command } from './command.ts'
import { machine } from './figures.ts'
import { GROUPS } from './groups.ts'
import { closing, opening, tableReport } from './report.ts'
import { runTable, type TableResult } from './runner.ts'

async function runGroups(command: Command): Promise<void> {
  const { groups, style, json, spelled } = command
  const results: Record<string, TableResult[]> = {}
  console.log(opening(style, spelled, command))
  for (const group of groups) {
    const done: TableResult[] = (results[group] = [])
    for (const [index, table] of (GROUPS[group] ?? []).entries()) {
      const result = await runTable(table, [group, index], command)
      done.push(result)
      console.log(tableReport(style, result))
    }
  }
  console.log(closing(style, Object.values(results).flat()))
  if (json !== undefined) {
    const { rounds, capMs } = command
    writeFileSync(json, `${JSON.stringify({ machine: machine(), date: new Date().toISOString(), rounds, capMs, groups: results }, undefined, 2)}\n`)
  }
}

/** @returns the exit status. */
function runPart(name: string, args: readonly string[]): number {
  const program = fileURLToPath(new URL(`${name}.js`, import.meta.url))
  return spawnSync(process.execPath, [...process.execArgv, program, ...args], { stdio: 'inherit' }).status ?? 1
}

try {
  const args = process.argv.slice(2)
  const command = readCommand(args)
  if (command.groups.length > 0) await runGroups(command)
  for (const part of command.parts) process.exitCode = runPart(part, args) || process.exitCode || 0
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 2
}
