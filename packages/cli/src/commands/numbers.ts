// Numbers among the options.
import { InvalidArgumentError } from 'commander'

/** A whole number from 0. */
export function parseCount(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It is not a whole number.')
  return Number(text)
}

/** A TCP port; 0 lets the system choose. */
export function parsePort(text: string): number {
  const port = parseCount(text)
  if (port > 65535) throw new InvalidArgumentError('Ports end at 65535.')
  return port
}

/** A number above 0. */
export function parseFactor(text: string): number {
  const factor = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : 0
  if (!(factor > 0)) throw new InvalidArgumentError('It is not a number above 0.')
  return factor
}
