/** Makes ids where no generator was injected. */

export type IdKind = 'thread' | 'run' | 'message'
export type GenerateId = (kind: IdKind) => string

/** A random UUID; React Native has no `crypto` by default, and ids there need only not collide. */
export const generateId: GenerateId = () => {
  const { crypto } = globalThis as { crypto?: Partial<Crypto> }
  if (typeof crypto?.randomUUID === 'function') return crypto.randomUUID()
  const word = (): string => Math.floor(Math.random() * 2 ** 32).toString(16).padStart(8, '0')
  return `${word()}-${word()}-${word()}-${word()}`
}
