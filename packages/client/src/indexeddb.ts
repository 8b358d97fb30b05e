/** The public names of @millrace/client/indexeddb, an entry of its own: who does not name it needs no `idb-keyval`. */
export { indexedDbStorage, type IndexedDbOptions } from './persistence/indexeddb-storage.ts'
export type { ChatStorage } from './persistence/storage.ts'
