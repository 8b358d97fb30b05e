/** JSON as lines, each with the pointer of the value it shows, so that a change can be marked where it stands. */
export interface JsonLine {
  readonly key: string
  readonly path: string
  readonly text: string
}

const lineLimit = 600

export function jsonLines(value: unknown): JsonLine[] {
  const lines: JsonLine[] = []
  write(value, '', '', '', '', lines)
  if (lines.length < lineLimit) return lines
  return [...lines.slice(0, lineLimit), { key: '…', path: '…', text: '…' }]
}

function write(value: unknown, path: string, indent: string, name: string, comma: string, lines: JsonLine[]): void {
  if (lines.length >= lineLimit) return
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (entries.length === 0) {
    lines.push({ key: path, path, text: `${indent}${name}${JSON.stringify(value)}${comma}` })
    return
  }
  const list = Array.isArray(value)
  lines.push({ key: path, path, text: `${indent}${name}${list ? '[' : '{'}` })
  entries.forEach(([key, part], index) => {
    const inner = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const label = list ? '' : `${JSON.stringify(key)}: `
    write(part, inner, `${indent}  `, label, index < entries.length - 1 ? ',' : '', lines)
  })
  lines.push({ key: `${path} end`, path: '', text: `${indent}${list ? ']' : '}'}${comma}` })
}
