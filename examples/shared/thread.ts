/** Which thread a page shows: the one that its address names, so that a reload, another tab and a bookmark show the same one. */

/** The id in `?thread=`; a new one, put there, if there is none. */
export function threadOfPage(): string {
  const url = new URL(location.href)
  const named = url.searchParams.get('thread')
  if (named) return named
  const id = `${Date.now().toString(36)}-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`
  url.searchParams.set('thread', id)
  history.replaceState(history.state, '', url)
  return id
}
