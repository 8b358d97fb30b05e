/** The address of a WebSocket. Plain text work: `URL` is only half there in React Native. */
import { withQuery } from './run-request.ts'

/** `url` with `ws:` or `wss:`, and `query` added; a relative one is resolved where there is a page. */
export function socketUrl(url: string, query: Readonly<Record<string, string>>): string {
  const { location } = globalThis as { readonly location?: { readonly href?: string } }
  const relative = !/^[a-z][a-z\d+.-]*:/i.test(url)
  const absolute = relative && location?.href !== undefined ? new URL(url, location.href).href : url
  // A socket's address has no fragment, and the constructor refuses one.
  const base = absolute.replace(/^http/i, 'ws').replace(/#.*$/s, '')
  return Object.keys(query).length === 0 ? base : withQuery(base, query)
}
