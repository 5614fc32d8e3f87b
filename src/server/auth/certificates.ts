import {
  type KeyObject,
  X509Certificate,
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
} from 'node:crypto'
import { isIP } from 'node:net'
import {
  addressBytes,
  bits,
  boolean,
  implicit,
  integer,
  objectId,
  octets,
  pemText,
  sequence,
  set,
  tagged,
  time,
  utf8,
} from '../../api/x509/index.ts'

/** A certificate with its private key, both in PEM. */
export interface KeyPair {
  certificate: string
  key: string
}

interface Subject {
  commonName: string
  organizations?: readonly string[]
}

interface Request {
  subject: Subject
  issuer: Subject
  publicKey: KeyObject
  notBefore: number
  notAfter: number
  extensions: Buffer[]
}

const oid = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
}

const algorithm = sequence(objectId(oid.ecdsaWithSha256))

const attribute = (id: string, text: string) => set(sequence(objectId(id), utf8(text)))

const nameOf = ({ commonName, organizations = [] }: Subject) =>
  sequence(...organizations.map((o) => attribute(oid.organization, o)), attribute(oid.commonName, commonName))

const extension = (id: string, value: Buffer, isCritical = false) =>
  sequence(objectId(id), ...(isCritical ? [boolean(true)] : []), octets(value))

const keyUsage = {
  /** keyCertSign and cRLSign. */
  authority: extension(oid.keyUsage, bits(Buffer.from([0x06]), 1), true),
  /** digitalSignature. */
  leaf: extension(oid.keyUsage, bits(Buffer.from([0x80]), 7), true),
}

const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'der' })

function issue(request: Request, signingKey: KeyObject): string {
  // RFC 5280: a serial number is positive and at most 20 bytes long.
  const serial = randomBytes(16)
  serial[0]! &= 0x7f
  serial[0]! |= 0x40
  const body = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(serial),
    algorithm,
    nameOf(request.issuer),
    sequence(time(request.notBefore), time(request.notAfter)),
    nameOf(request.subject),
    spki(request.publicKey),
    tagged(3, sequence(...request.extensions)),
  )
  const certificate = sequence(body, algorithm, bits(sign('sha256', body, signingKey)))
  return pemText('CERTIFICATE', certificate)
}

const yearMs = 365 * 24 * 3600_000
/** Tolerates clock differences between machines. */
const skewMs = 5 * 60_000

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }) as string

/**
 * Creates a certificate authority, valid for ten years. Its name is unique, so that a certificate of another cluster
 * has an unknown issuer instead of a wrong signature.
 */
export function createAuthority(now: number): KeyPair {
  const { publicKey, privateKey } = newKey()
  const subject: Subject = { commonName: `coxswain-ca@${randomBytes(6).toString('hex')}` }
  const keyId = createHash('sha1').update(spki(publicKey)).digest()
  const certificate = issue(
    {
      subject,
      issuer: subject,
      publicKey,
      notBefore: now - skewMs,
      notAfter: now + 10 * yearMs,
      extensions: [
        extension(oid.basicConstraints, sequence(boolean(true)), true),
        keyUsage.authority,
        extension(oid.subjectKeyId, octets(keyId)),
      ],
    },
    privateKey,
  )
  return { certificate, key: pem(privateKey) }
}

function issueLeaf(authority: KeyPair, subject: Subject, now: number, usage: string, more: Buffer[]): KeyPair {
  const { publicKey, privateKey } = newKey()
  const extensions = [keyUsage.leaf, extension(oid.extendedKeyUsage, sequence(objectId(usage))), ...more]
  const issuer = { commonName: new X509Certificate(authority.certificate).subject.replace(/^CN=/, '') }
  const request = { subject, issuer, publicKey, notBefore: now - skewMs, notAfter: now + yearMs, extensions }
  return { certificate: issue(request, createPrivateKey(authority.key)), key: pem(privateKey) }
}

/** Issues a server certificate for host names and addresses, valid for a year. */
export function issueServerCertificate(authority: KeyPair, hosts: readonly string[], now: number): KeyPair {
  const names = hosts.map((h) => (isIP(h) ? implicit(7, addressBytes(h)) : implicit(2, Buffer.from(h))))
  return issueLeaf(authority, { commonName: 'coxswain-apiserver' }, now, oid.serverAuth, [
    extension(oid.subjectAltName, sequence(...names)),
  ])
}

/** Issues a client certificate, valid for a year: common name as user name, organizations as groups. */
export const issueClientCertificate = (authority: KeyPair, subject: Subject, now: number): KeyPair =>
  issueLeaf(authority, subject, now, oid.clientAuth, [])

/** True if the private key matches the certificate's public key. */
export function isKeyOf(pair: KeyPair): boolean {
  return spki(createPublicKey(pair.certificate)).equals(spki(createPublicKey(createPrivateKey(pair.key))))
}
