/** What the command line refuses. */
import { expect, it } from 'vitest'
import { readCommand } from './command.ts'

it('knows the groups by name, and runs all without one', () => {
  expect(readCommand(['history', 'text'])).toMatchObject({ groups: ['text', 'history'], parts: [], rounds: 3, capMs: 20_000, style: 'text' })
  expect(readCommand(['--markdown', '--cap', '0.5']).groups.length).toBeGreaterThan(5)
  expect(readCommand(['text', '--markdown', '--rounds', '1']).spelled).toBe('npm run bench -- text --rounds 1')
  expect(readCommand(['json-patch'])).toMatchObject({ groups: [], parts: ['json-patch'] })
})

it('lists what there is for a name that is not known', () => {
  expect(() => readCommand(['text', 'txet'])).toThrow(/txet; there are text, history.*partial-json/)
})

it.each([
  ['--rounds', '0'],
  ['--rounds', '1.5'],
  ['--cap', '0'],
  ['--cap', 'long'],
  ['--fast'],
  ['text', 'page', '--json', 'figures.json'],
])('refuses %s %s', (...args) => {
  expect(() => readCommand(args)).toThrow()
})
