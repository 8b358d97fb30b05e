import { describe, expect, test } from 'vitest'
import { markdownBlocks } from './markdown-blocks.ts'

describe('markdownBlocks', () => {
  test.each([
    ['nothing', '', []],
    ['one paragraph', 'a\nb', ['a\nb']],
    ['two paragraphs', 'a\n\nb', ['a\n', 'b']],
    ['a loose list stays whole', '1. a\n\n2. b\n\n   more\n\nc', ['1. a\n\n2. b\n\n   more\n', 'c']],
    ['a fence stays whole', '```ts\na\n\nb\n```\n\nc', ['```ts\na\n\nb\n```\n', 'c']],
    ['an open fence stays whole', 'x\n\n```\na\n\nb', ['x\n', '```\na\n\nb']],
    ['a longer fence closes only on its like', '````\n```\n\n```\n````\n\nz', ['````\n```\n\n```\n````\n', 'z']],
    ['definitions keep the text whole', 'see [a]\n\n[a]: https://example.org', ['see [a]\n\n[a]: https://example.org']],
  ])('%s', (_name, text, blocks) => {
    expect(markdownBlocks(text)).toEqual(blocks)
  })

  test('all blocks but the last stay the same while text grows', () => {
    const text = '# t\n\none\n\n- a\n\n- b\n\n```\nx\n\ny\n```\n\nend'
    for (let end = 1; end < text.length; end += 1) {
      const before = markdownBlocks(text.slice(0, end))
      const after = markdownBlocks(text.slice(0, end + 1))
      const stable = before.slice(0, -1)
      expect(after.slice(0, stable.length)).toEqual(stable)
    }
  })
})
