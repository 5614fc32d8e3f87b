import { X509Certificate, createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import type { AlternativeNames, CertificateRequest, Subject } from './certificate-request.ts'
import { type Element, onlyElement, partsOf, pemBlocks, pemText, readBits, tags } from './der-reader.ts'
import {
  bits,
  boolean,
  element,
  implicit,
  integer,
  objectId,
  octets,
  sequence,
  set,
  tagged,
  time,
  utf8,
} from './der.ts'

/** A certificate authority with its private key. Both are PEM. */
export interface SigningAuthority {
  certificate: string
  key: string
}

/** The bit numbers of the key usage extension, by Kubernetes' usage names. */
const keyUsages: Readonly<Record<string, number>> = {
  signing: 0,
  'digital signature': 0,
  'content commitment': 1,
  'key encipherment': 2,
  'data encipherment': 3,
  'key agreement': 4,
  'cert sign': 5,
  'crl sign': 6,
  'encipher only': 7,
  'decipher only': 8,
}

const extendedUsages: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
}

/** All usages that a request can have. */
export const knownUsages: readonly string[] = [...Object.keys(keyUsages), ...Object.keys(extendedUsages)].sort()

const ids = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  rsaWithSha256: '1.2.840.113549.1.1.11',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedUsage: '2.5.29.37',
}

/** The subject attributes that Go's x509 keeps, in the order in which it writes them: country first. */
const keptAttributes = ['6', '10', '11', '7', '8', '9', '17', '3', '5'].map((last) => `2.5.4.${last}`)
const commonName = '2.5.4.3'

/** Encodes the subject of a certificate. Other attributes are omitted, as in Go. */
function subjectName(subject: Subject): Buffer {
  const attributes = keptAttributes.flatMap((id) => {
    const texts =
      id === commonName
        ? [subject.commonName].filter((text) => text !== '')
        : subject.attributes.filter((a) => a.id === id).map((a) => a.text)
    return texts.map((text) => set(sequence(objectId(id), utf8(text))))
  })
  return sequence(...attributes)
}

/** With NULL parameters. */
const rsaAlgorithm = sequence(objectId(ids.rsaWithSha256), element(0x05, Buffer.alloc(0)))

const extension = (id: string, value: Buffer, isCritical = false) =>
  sequence(objectId(id), ...(isCritical ? [boolean(true)] : []), octets(value))

/** Encodes a bit string of named bits, without trailing zeros. */
function namedBits(numbers: readonly number[]): Buffer {
  const highest = Math.max(...numbers)
  const bytes = Buffer.alloc(Math.floor(highest / 8) + 1)
  for (const number of numbers) bytes[number >> 3]! |= 0x80 >> (number & 7)
  return bits(bytes, 7 - (highest & 7))
}

function usageExtensions(usages: readonly string[]): Buffer[] {
  const numbers = usages.flatMap((usage) => keyUsages[usage] ?? [])
  const extended = [...new Set(usages.flatMap((usage) => extendedUsages[usage] ?? []))].sort()
  return [
    ...(numbers.length ? [extension(ids.keyUsage, namedBits(numbers), true)] : []),
    ...(extended.length ? [extension(ids.extendedUsage, sequence(...extended.map(objectId)))] : []),
  ]
}

function nameExtension({ dns, emails, uris, addresses }: AlternativeNames): Buffer[] {
  const names = [
    ...dns.map((name) => implicit(2, Buffer.from(name))),
    ...emails.map((name) => implicit(1, Buffer.from(name))),
    ...addresses.map((address) => implicit(7, address)),
    ...uris.map((name) => implicit(6, Buffer.from(name))),
  ]
  return names.length ? [extension(ids.alternativeNames, sequence(...names))] : []
}

/** The encoded subject of the authority, and its key identifier. */
function issuerOf(certificate: string): { name: Buffer; keyId: Buffer } {
  const [body] = partsOf(onlyElement(pemBlocks(certificate)[0]!.bytes, tags.sequence), tags.sequence)
  const parts = partsOf(body, tags.sequence)
  const isVersioned = parts[0]?.tag === 0xa0
  const subject: Element = parts[isVersioned ? 5 : 4]!
  const spki = createPublicKey(certificate).export({ type: 'spki', format: 'der' })
  const key = readBits(partsOf(onlyElement(spki, tags.sequence), tags.sequence)[1])
  return { name: subject.raw, keyId: subjectKeyId(parts.at(-1)!) ?? createHash('sha1').update(key).digest() }
}

const subjectKeyIdBytes = Buffer.from([0x06, 0x03, 0x55, 0x1d, 0x0e])

/** The subject key identifier in the extensions of a certificate. */
function subjectKeyId(extensions: Element): Buffer | undefined {
  if (extensions.tag !== 0xa3) return undefined
  const all = partsOf(onlyElement(extensions.content, tags.sequence), tags.sequence)
  const found = all.find((e) => e.content.indexOf(subjectKeyIdBytes) === 0)
  return found && onlyElement(partsOf(found, tags.sequence).at(-1)!.content, tags.octets).content
}

/** The validity period of a certificate, in milliseconds since the epoch. */
interface Validity {
  notBefore: number
  notAfter: number
}

const backdateMs = 5 * 60_000
const shortMs = 8 * 3_600_000

/**
 * The validity of a certificate for `durationMs`, as in kube-controller-manager. It starts 5 minutes ago, because
 * clocks differ. A certificate for less than 8 hours ends `durationMs` from now; a longer one 5 minutes earlier. None
 * outlives the authority.
 */
export function validityOf(durationMs: number, nowMs: number, authority: SigningAuthority): Validity {
  const wanted = durationMs < shortMs ? nowMs + durationMs : nowMs + durationMs - backdateMs
  return {
    notBefore: nowMs - backdateMs,
    notAfter: Math.min(wanted, Date.parse(new X509Certificate(authority.certificate).validTo)),
  }
}

/**
 * Signs a request. Returns a certificate in PEM with its key, subject and names, and these usages. `serial` has 16
 * random bytes.
 */
export function signRequest(
  request: CertificateRequest,
  usages: readonly string[],
  validity: Validity,
  authority: SigningAuthority,
  serial: Buffer,
): string {
  const issuer = issuerOf(authority.certificate)
  const key = createPrivateKey(authority.key)
  const algorithm = key.asymmetricKeyType === 'rsa' ? rsaAlgorithm : sequence(objectId(ids.ecdsaWithSha256))
  const positive = Buffer.from(serial)
  positive[0] = (positive[0]! & 0x7f) | 0x40
  const body = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(positive),
    algorithm,
    issuer.name,
    sequence(time(validity.notBefore), time(validity.notAfter)),
    subjectName(request.subject),
    request.spki,
    tagged(
      3,
      sequence(
        ...usageExtensions(usages),
        extension(ids.basicConstraints, sequence(), true),
        extension(ids.authorityKeyId, sequence(implicit(0, issuer.keyId))),
        ...nameExtension(request.names),
      ),
    ),
  )
  return pemText('CERTIFICATE', sequence(body, algorithm, bits(sign('sha256', body, key))))
}
