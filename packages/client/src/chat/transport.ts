/** Chooses the connection of a client from its options. */
import { UsageError } from '@millrace/protocol'
import { normalizeConnectionAdapter, type NormalizedConnection } from '../connection/normalize.ts'
import { fetcherToConnectionAdapter } from '../connection/stream.ts'
import type { ChatClientSettings } from './options.ts'

/**
 * @throws UsageError `no-connection`, `two-connections`, or what `normalizeConnectionAdapter` throws.
 */
export function resolveConnection({ connection, fetcher }: ChatClientSettings): NormalizedConnection {
  if (connection !== undefined && fetcher !== undefined) {
    throw new UsageError('two-connections', 'Give either `connection` or `fetcher`, not both.')
  }
  if (connection !== undefined) return normalizeConnectionAdapter(connection)
  if (typeof fetcher === 'function') return normalizeConnectionAdapter(fetcherToConnectionAdapter(fetcher))
  throw new UsageError(
    'no-connection',
    "A chat needs a `connection`, such as fetchServerSentEvents('/api/chat'), or a `fetcher`.",
  )
}
