/** Runs `reads` as effects of Svelte until the function it gives is called. */
export function observing(reads: readonly (() => void)[]): () => void {
  return $effect.root(() => {
    for (const read of reads) $effect.pre(read)
  })
}
