/** The built page, read once into memory: a request can only get what is in this map, so no path can leave the folder. */
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface PageFile {
  readonly body: Buffer
  readonly type: string
  /** Whether its name changes with its contents. */
  readonly hashed: boolean
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
}

/**
 * @returns URL path to file, `/` included
 * @throws if there is no built page in the folder.
 */
export async function readPage(folder: URL): Promise<ReadonlyMap<string, PageFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const root = fileURLToPath(folder)
  const files = new Map<string, PageFile>()
  for (const entry of entries.filter((each) => each.isFile())) {
    const full = `${entry.parentPath}/${entry.name}`.replaceAll('\\', '/')
    const path = `/${full.slice(root.replaceAll('\\', '/').length).replace(/^\/+/u, '')}`
    files.set(path, {
      body: await readFile(full),
      type: types[extname(entry.name)] ?? 'application/octet-stream',
      hashed: path.startsWith('/assets/'),
    })
  }
  const index = files.get('/index.html')
  if (index === undefined) throw new Error(`There is no built page in ${root}. \`npm run build\` makes one.`)
  return files.set('/', index)
}
