/** A certificate that nobody trusts, for TLS on this machine. X.509 (RFC 5280) in DER, with nothing in it that is not needed. */
import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto'

export interface Credentials {
  /** PEM. */
  readonly key: string
  readonly cert: string
}

const DAY = 86_400_000

/** A new key (P-256) and a certificate for localhost and 127.0.0.1, good from yesterday for 30 days. */
export function selfSigned(now: number = Date.now()): Credentials {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = sequence(oid(1, 2, 840, 10045, 4, 3, 2)) // ecdsa-with-SHA256
  const name = sequence(set(sequence(oid(2, 5, 4, 3), der(0x0c, Buffer.from('localhost')))))
  const altNames = sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])))
  const toSign = sequence(
    der(0xa0, integer(Buffer.from([2]))), // version 3
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    sequence(time(now - DAY), time(now + 30 * DAY)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(oid(2, 5, 29, 17), der(0x04, altNames)))),
  )
  const signature = createSign('SHA256').update(toSign).sign(privateKey)
  const certificate = sequence(toSign, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])))
  const lines = certificate.toString('base64').replace(/.{64}(?!$)/g, '$&\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  }
}

function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...contents: readonly Uint8Array[]): Buffer => der(0x30, ...contents)
const set = (...contents: readonly Uint8Array[]): Buffer => der(0x31, ...contents)
const integer = (bytes: Uint8Array): Buffer => der(0x02, bytes)

/** UTCTime: YYMMDDHHMMSSZ. */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')
  return der(0x17, Buffer.from(digits.slice(2)))
}

function oid(first: number, second: number, ...rest: readonly number[]): Buffer {
  const bytes = [first * 40 + second]
  for (const part of rest) {
    const groups = [part & 127]
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 127) | 128)
    bytes.push(...groups)
  }
  return der(0x06, Buffer.from(bytes))
}
