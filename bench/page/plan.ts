/** One sample: who shows how much, and how the answer comes. The page and the server are told in the query of their address. */

/** The clients, under the names of the tables. */
export const CLIENTS = ['millrace', 'tanstack', 'ai'] as const
export type ClientName = (typeof CLIENTS)[number]

/** `windowed`: rows that can be seen are in the document; `whole`: all are. */
export type ListKind = 'windowed' | 'whole'

export interface Plan {
  readonly client: ClientName
  readonly list: ListKind
  /** Messages that are there before. */
  readonly messages: number
  readonly deltas: number
  /** Events in a second; 0: as fast as the socket takes them. */
  readonly pace: number
}

export function queryOf(plan: Plan): string {
  return new URLSearchParams(Object.entries(plan).map(([name, value]) => [name, String(value)])).toString()
}

/** @throws Error for a client or a list that is none. */
export function planOf(query: URLSearchParams): Plan {
  const number = (name: string): number => Number(query.get(name) ?? 0)
  const [client, list] = [query.get('client'), query.get('list')]
  if (!CLIENTS.some((name) => name === client)) throw new Error(`no such client: ${client}`)
  if (list !== 'windowed' && list !== 'whole') throw new Error(`no such list: ${list}`)
  return { client: client as ClientName, list, messages: number('messages'), deltas: number('deltas'), pace: number('pace') }
}
