/**
 * Cuts Markdown into blocks that can be rendered apart, so that a delta re-renders the last block and not the whole
 * answer. A cut is a blank line before a line that starts a new top-level block: not inside a fence, not indented,
 * not a list item (a loose list is one block).
 */
const fence = /^ {0,3}(`{3,}|~{3,})/u
/** Also what may become a list item once the rest of its line is there. */
const continues = /^(?:\s|[-*+](?:\s|$)|\d+(?:[.)](?:\s|$)|$))/u
/** Definitions and footnotes are seen by the whole document; a text with any is left in one piece. */
const definition = /^ {0,3}\[[^\]\n]+\]:/mu

export function markdownBlocks(text: string): string[] {
  if (definition.test(text)) return [text]
  const blocks: string[] = []
  let block = ''
  let open = ''
  let blank = false
  for (const line of text.split('\n')) {
    if (open === '' && blank && line.trim() !== '' && !continues.test(line)) {
      blocks.push(block)
      block = ''
    }
    block += block === '' ? line : `\n${line}`
    const marks = fence.exec(line)?.[1] ?? ''
    if (open === '') open = marks
    else if (marks.startsWith(open) && line.trim() === marks) open = ''
    blank = line.trim() === ''
  }
  if (block.trim() !== '') blocks.push(block)
  return blocks
}
