/** Frames → server-sent events (WHATWG HTML §9.2.6). AG-UI 1.0 asks producers for LF. */

const NEWLINE = /\r\n|\r|\n/

function field(name: string, value: string): string {
  if (/[\r\n\0]/.test(value)) throw new RangeError(`An SSE ${name} cannot hold a line break or NUL`)
  return `${name}: ${value}\n`
}

/**
 * One event as text, blank line included.
 * @throws RangeError if `id` or `event` holds a line break or NUL, which the grammar cannot carry.
 */
export function encodeSse(frame: { data: string; id?: string; event?: string; retry?: number }): string {
  let text = ''
  if (frame.id !== undefined) text += field('id', frame.id)
  if (frame.event !== undefined) text += field('event', frame.event)
  if (frame.retry !== undefined) text += field('retry', String(frame.retry))
  // JSON text has no line breaks outside of pretty printing; the test is cheaper than the split.
  if (NEWLINE.test(frame.data)) for (const line of frame.data.split(NEWLINE)) text += `data: ${line}\n`
  else text += `data: ${frame.data}\n`
  return `${text}\n`
}

/** A comment, which consumers skip: keeps idle connections open. */
export function encodeSseComment(text: string): string {
  return `: ${text.replace(/[\r\n]+/g, ' ')}\n\n`
}
