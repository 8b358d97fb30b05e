/** Numbers of a bench: how they are taken, and how they are written. */
import { cpus } from 'node:os'

/** What is measured on. */
export function machine(): string {
  return `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}`
}

/** Runs once; the time in ms. */
export function timed<T>(run: () => T): { readonly result: T; readonly time: number } {
  const start = performance.now()
  const result = run()
  return { result, time: performance.now() - start }
}

export function median(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export function ms(time: number): string {
  return threeDigits(time)
}

export function ratio(time: number, base: number): string {
  return `${threeDigits(time / base)}×`
}

function threeDigits(value: number): string {
  return value < 99.95 ? value.toFixed(value < 9.995 ? 2 : 1) : Math.round(value).toLocaleString('en')
}
