import { type KeyObject, constants, createPublicKey, verify } from 'node:crypto'
import {
  Asn1Error,
  type Element,
  checkTag,
  elementsOf,
  onlyElement,
  partsOf,
  pemBlocks,
  readBits,
  readObjectId,
  tags,
} from './der-reader.ts'

/** The parts of a subject that signers check and that certificates get. */
export interface Subject {
  commonName: string
  organizations: string[]
  /** All attributes by object identifier, in the order of the request. */
  attributes: { id: string; text: string }[]
}

/** The subject alternative names. */
export interface AlternativeNames {
  dns: string[]
  emails: string[]
  uris: string[]
  /** 4 or 16 bytes each. */
  addresses: Buffer[]
}

/** A parsed PKCS#10 request. Its signature is not verified yet. */
export interface CertificateRequest {
  subject: Subject
  names: AlternativeNames
  publicKey: KeyObject
  /** The encoded public key, which is copied to the certificate. */
  spki: Buffer
  signed: Buffer
  algorithm: Element
  signature: Buffer
}

const ids = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  extensionRequest: '1.2.840.113549.1.9.14',
  alternativeNames: '2.5.29.17',
}

/** Parses a request in PEM. Throws an Error with Go's message. */
export function parseCertificateRequest(pem: string): CertificateRequest {
  const [block] = pemBlocks(pem)
  if (block?.label !== 'CERTIFICATE REQUEST') throw new Error('PEM block type must be CERTIFICATE REQUEST')
  const [info, algorithm, signature] = partsOf(onlyElement(block.bytes, tags.sequence), tags.sequence)
  const [version, subject, spki, attributes] = partsOf(info, tags.sequence)
  checkTag(version, tags.integer)
  checkTag(spki, tags.sequence)
  checkTag(algorithm, tags.sequence)
  return {
    subject: readSubject(subject),
    names: readNames(attributes),
    publicKey: readKey(spki.raw),
    spki: spki.raw,
    signed: info!.raw,
    algorithm,
    signature: readBits(signature),
  }
}

function readKey(spki: Buffer): KeyObject {
  try {
    return createPublicKey({ key: spki, format: 'der', type: 'spki' })
  } catch {
    throw new Asn1Error('x509: unsupported or malformed public key')
  }
}

const bmpString = 0x1e

/** Decodes a text: a BMPString is UTF-16, other types are read as UTF-8. */
function readText({ tag, content }: Element): string {
  return tag === bmpString ? Buffer.from(content).swap16().toString('utf16le') : content.toString()
}

function readSubject(name: Element | undefined): Subject {
  const attributes = partsOf(name, tags.sequence).flatMap((set) =>
    partsOf(set, tags.set).map((attribute) => {
      const [id, value] = partsOf(attribute, tags.sequence)
      if (!value) throw new Asn1Error('asn1: syntax error: sequence truncated')
      return { id: readObjectId(id), text: readText(value) }
    }),
  )
  const of = (id: string) => attributes.filter((a) => a.id === id).map((a) => a.text)
  // As in Go, the last common name counts.
  return { commonName: of(ids.commonName).at(-1) ?? '', organizations: of(ids.organization), attributes }
}

/** The alternative names in the requested extensions. */
function readNames(attributes: Element | undefined): AlternativeNames {
  const names: AlternativeNames = { dns: [], emails: [], uris: [], addresses: [] }
  for (const attribute of attributes ? elementsOf(attributes.content) : []) {
    const [id, values] = partsOf(attribute, tags.sequence)
    if (readObjectId(id) !== ids.extensionRequest) continue
    for (const list of partsOf(values, tags.set))
      for (const extension of partsOf(list, tags.sequence)) addNames(names, extension)
  }
  return names
}

/** The context tags of GeneralName. */
const nameTags = { email: 0x81, dns: 0x82, uri: 0x86, address: 0x87 }

function addNames(names: AlternativeNames, extension: Element): void {
  const parts = partsOf(extension, tags.sequence)
  if (readObjectId(parts[0]) !== ids.alternativeNames) return
  const value = parts.at(-1)
  checkTag(value, tags.octets)
  for (const { tag, content } of partsOf(onlyElement(value.content, tags.sequence), tags.sequence)) {
    if (tag === nameTags.email) names.emails.push(content.toString())
    if (tag === nameTags.dns) names.dns.push(content.toString())
    if (tag === nameTags.uri) names.uris.push(content.toString())
    if (tag !== nameTags.address) continue
    if (content.length !== 4 && content.length !== 16)
      throw new Error(`x509: cannot parse IP address of length ${content.length}`)
    names.addresses.push(content)
  }
}

interface Algorithm {
  /** Null for Ed25519, which hashes by itself. */
  hash: string | null
  family: 'rsa' | 'ec' | 'ed25519'
}

/** Signature algorithms by object identifier. */
const algorithms: Readonly<Record<string, Algorithm>> = {
  '1.2.840.113549.1.1.5': { hash: 'sha1', family: 'rsa' },
  '1.2.840.113549.1.1.11': { hash: 'sha256', family: 'rsa' },
  '1.2.840.113549.1.1.12': { hash: 'sha384', family: 'rsa' },
  '1.2.840.113549.1.1.13': { hash: 'sha512', family: 'rsa' },
  '1.2.840.10045.4.1': { hash: 'sha1', family: 'ec' },
  '1.2.840.10045.4.3.2': { hash: 'sha256', family: 'ec' },
  '1.2.840.10045.4.3.3': { hash: 'sha384', family: 'ec' },
  '1.2.840.10045.4.3.4': { hash: 'sha512', family: 'ec' },
  '1.3.101.112': { hash: null, family: 'ed25519' },
}

const hashes: Readonly<Record<string, string>> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
}
const rsaPss = '1.2.840.113549.1.1.10'
const failures = {
  rsa: 'crypto/rsa: verification error',
  ec: 'x509: ECDSA verification failure',
  ed25519: 'x509: Ed25519 verification failure',
}
const unimplemented = 'x509: cannot verify signature: algorithm unimplemented'
const wrongKey = 'x509: signature algorithm specifies another kind of public key'

/** Verifies that a request is signed with its own key. Returns the problem in Go's words, or undefined. */
export function signatureProblem({ algorithm, publicKey, signed, signature }: CertificateRequest): string | undefined {
  const [id, parameters] = elementsOf(algorithm.content)
  const name = readObjectId(id)
  const known = name === rsaPss ? pssAlgorithm(parameters) : algorithms[name]
  if (!known) return unimplemented
  if (publicKey.asymmetricKeyType !== known.family) return wrongKey
  const key = name === rsaPss ? { key: publicKey, padding: constants.RSA_PKCS1_PSS_PADDING } : publicKey
  return verify(known.hash, signed, key, signature) ? undefined : failures[known.family]
}

/** RSA-PSS has its hash algorithm in the parameters. Undefined if it is not supported. */
function pssAlgorithm(parameters: Element | undefined): Algorithm | undefined {
  const [named] = partsOf(parameters, tags.sequence)
  const hash = named && hashes[readObjectId(partsOf(onlyElement(named.content, tags.sequence), tags.sequence)[0])]
  return hash ? { hash, family: 'rsa' } : undefined
}
