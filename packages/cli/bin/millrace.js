#!/usr/bin/env node
// Starts the command line. In a checkout of the repository dist/ may be missing: it is built once, on first use.
import { existsSync } from 'node:fs'

const main = new URL('../dist/main.js', import.meta.url)
const inRepository = existsSync(new URL('../tsdown.config.js', import.meta.url)) // never published
if (!existsSync(main) && inRepository) {
  const { buildAll, packageTargets } = await import(new URL('../../../tools/build.mjs', import.meta.url).href)
  const log = (line) => process.stderr.write(`${line}\n`)
  if (!(await buildAll({ only: packageTargets, log }))) process.exit(2)
}
await import(main.href)
