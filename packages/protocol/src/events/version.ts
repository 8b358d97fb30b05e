/** Protocol versions (AG-UI 1.0, versions): `MAJOR.MINOR`, compared as numbers. */

/** The version this package speaks and declares. */
export const PROTOCOL_VERSION: string = '1.0'

const [OUR_MAJOR, OUR_MINOR]: readonly [number, number] = [1, 0]

/** What to say of a version a producer declared, or undefined if it is ours or older. */
export function versionConcern(declared: string): string | undefined {
  const [, major, minor] = (/^(\d+)\.(\d+)$/.exec(declared) ?? []).map(Number)
  if (major === undefined || minor === undefined) return `The producer declares protocol version "${declared}", which is not MAJOR.MINOR`
  return major > OUR_MAJOR || (major === OUR_MAJOR && minor > OUR_MINOR)
    ? `The producer declares protocol version ${declared}; this reader knows ${PROTOCOL_VERSION}`
    : undefined
}
