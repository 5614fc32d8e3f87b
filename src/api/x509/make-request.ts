import { type KeyObject, generateKeyPairSync, sign } from 'node:crypto'
import { pemText } from './der-reader.ts'
import { addressBytes, bits, element, implicit, integer, objectId, octets, sequence, set, tagged, utf8 } from './der.ts'

/** The subject and the names of a requested certificate. */
export interface WantedCertificate {
  commonName?: string
  organizations?: readonly string[]
  dns?: readonly string[]
  emails?: readonly string[]
  uris?: readonly string[]
  addresses?: readonly string[]
  key?: 'ec' | 'rsa' | 'ed25519'
}

const newKey = (kind: 'ec' | 'rsa' | 'ed25519'): { publicKey: KeyObject; privateKey: KeyObject } => {
  if (kind === 'ec') return generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  return kind === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ed25519')
}

const algorithmOf = {
  ec: sequence(objectId('1.2.840.10045.4.3.2')),
  rsa: sequence(objectId('1.2.840.113549.1.1.11'), element(0x05, Buffer.alloc(0))),
  ed25519: sequence(objectId('1.3.101.112')),
}

/** Creates a PKCS#10 request with a new private key. Both are PEM. */
export function makeRequest(about: WantedCertificate): { request: string; key: string } {
  const { commonName = '', organizations = [], key: kind = 'ec' } = about
  const { dns = [], emails = [], uris = [], addresses = [] } = about
  const { publicKey, privateKey } = newKey(kind)
  const attribute = (id: string, text: string) => set(sequence(objectId(id), utf8(text)))
  const names = [
    ...emails.map((name) => implicit(1, Buffer.from(name))),
    ...dns.map((name) => implicit(2, Buffer.from(name))),
    ...uris.map((name) => implicit(6, Buffer.from(name))),
    ...addresses.map((address) => implicit(7, addressBytes(address))),
  ]
  const extensions = sequence(sequence(objectId('2.5.29.17'), octets(sequence(...names))))
  const info = sequence(
    integer(Buffer.from([0])),
    sequence(
      ...organizations.map((o) => attribute('2.5.4.10', o)),
      ...(commonName ? [attribute('2.5.4.3', commonName)] : []),
    ),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0, names.length ? sequence(objectId('1.2.840.113549.1.9.14'), set(extensions)) : Buffer.alloc(0)),
  )
  const signature = sign(kind === 'ed25519' ? null : 'sha256', info, privateKey)
  return {
    request: pemText('CERTIFICATE REQUEST', sequence(info, algorithmOf[kind], bits(signature))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}
