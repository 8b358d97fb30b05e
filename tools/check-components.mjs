// Checks the types in the .vue and .svelte files of examples/, side by side. It reads the declarations of the packages that
// `tsc -b` makes, so that goes first. Both checkers need TypeScript's API in JavaScript, which the native one does not have:
// they live in tools/component-types, a workspace with a TypeScript of its own.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const here = new URL('./component-types/node_modules/', import.meta.url)
const root = fileURLToPath(new URL('../', import.meta.url))

/** @type {readonly (readonly string[])[]} */
const checkers = [
  ['vue-tsc/bin/vue-tsc.js', '--noEmit', '--pretty', 'false', '-p', 'examples/vue/tsconfig.json'],
  ['svelte-check/bin/svelte-check', '--workspace', 'examples/svelte', '--tsconfig', './tsconfig.json', '--fail-on-warnings', '--output', 'human'],
]

/** @param {readonly string[]} command @returns {Promise<{ code: number, output: string }>} */
function run([program = '', ...args]) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [fileURLToPath(new URL(program, here)), ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
    child.on('error', (error) => resolve({ code: 1, output: `${program}: ${error.message}\n` }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

for (const { code, output } of await Promise.all(checkers.map(run))) {
  if (code === 0) continue
  process.exitCode = 1
  console.log(output.trim())
}
