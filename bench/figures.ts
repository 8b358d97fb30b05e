/** How the parts' benches measure and print. It knows no workload. */
import { cpus } from 'node:os'

/** First line of a report: what it was measured on. */
export function heading(rounds: number): string {
  return `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}; median of ${rounds}\n`
}

/** Runs once, after the garbage of what ran before was collected; the time in ms. */
export function timed<T>(run: () => T): { readonly result: T; readonly time: number } {
  globalThis.gc?.()
  const start = performance.now()
  const result = run()
  return { result, time: performance.now() - start }
}

export function median(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export function ms(time: number): string {
  return time < 10 ? time.toFixed(2) : Math.round(time).toLocaleString('en')
}

export function ratio(time: number, base: number): string {
  const times = time / base
  return `${times < 10 ? times.toFixed(2) : Math.round(times).toLocaleString('en')}×`
}
