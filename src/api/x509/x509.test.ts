import { X509Certificate, createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { parseCertificateRequest, pemBlocks, pemText, signRequest, signatureProblem, validityOf } from './index.ts'
import { bits, boolean, element, integer, objectId, sequence, set, tagged, time, utf8 } from './der.ts'
import { type SampleRequest, sampleRequest } from './sample-request.ts'

const now = Date.UTC(2026, 0, 1)
const hourMs = 3_600_000

/** An authority that signs itself, with a key of either kind. */
function authority(kind: 'ec' | 'rsa', lifeMs = 10 * 365 * 24 * hourMs) {
  const { publicKey, privateKey } = kind === 'ec' ? generateKeyPairSync(
    'ec',
    { namedCurve: 'prime256v1' },
  ) : generateKeyPairSync('rsa', { modulusLength: 2048 })
  const algorithm = kind === 'ec' ? sequence(objectId('1.2.840.10045.4.3.2')) : sequence(
    objectId('1.2.840.113549.1.1.11'),
    element(5, Buffer.alloc(0)),
  )
  const name = sequence(set(sequence(objectId('2.5.4.3'), utf8('ca'))))
  const extensions = sequence(sequence(objectId('2.5.29.19'), boolean(true), element(0x04, sequence(boolean(true)))))
  const body = sequence(
    tagged(0, integer(Buffer.from([2]))), integer(Buffer.from([1])), algorithm, name, sequence(
      time(now - hourMs),
      time(now + lifeMs),
    ), name,
    publicKey.export({ type: 'spki', format: 'der' }), tagged(3, extensions),
  )
  const certificate = pemText('CERTIFICATE', sequence(body, algorithm, bits(sign('sha256', body, privateKey))))
  return { certificate, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string }
}

describe('parseCertificateRequest()', () => {
  it.each<[string, SampleRequest]>([
    ['an EC key', { key: 'ec' }],
    ['an RSA key', { key: 'rsa' }],
    ['an Ed25519 key', { key: 'ed25519' }],
  ])('reads a request with %s, whose signature is right', (_, about) => {
    const parsed = parseCertificateRequest(sampleRequest(
      { ...about, commonName: 'ann', organizations: ['crew', 'deck'], dns: ['a.example'], addresses: ['10.0.0.9'] },
    ).request)
    expect(parsed.subject).toMatchObject({ commonName: 'ann', organizations: ['crew', 'deck'] })
    expect(parsed.names).toMatchObject({
      dns: ['a.example'],
      emails: [],
      uris: [],
      addresses: [Buffer.from([10, 0, 0, 9])],
    })
    expect(signatureProblem(parsed)).toBeUndefined()
  })

  it('finds the request behind other text', () => {
    expect(parseCertificateRequest(`a note\n${sampleRequest().request}`).subject.commonName).toBe('ann')
  })

  it.each([
    ['no PEM', 'hello', 'PEM block type must be CERTIFICATE REQUEST'],
    ['another block', pemText('CERTIFICATE', Buffer.from([48, 0])), 'PEM block type must be CERTIFICATE REQUEST'],
    ['nothing in it', pemText('CERTIFICATE REQUEST', Buffer.from([48, 0])), 'asn1: syntax error: sequence truncated'],
    [
      'half a request',
      pemText('CERTIFICATE REQUEST', pemBlocks(sampleRequest().request)[0]!.bytes.subarray(0, 90)),
      'asn1: syntax error: data truncated',
    ],
    [
      'more behind it',
      pemText(
        'CERTIFICATE REQUEST',
        Buffer.concat([pemBlocks(sampleRequest().request)[0]!.bytes, Buffer.from([0, 0])]),
      ),
      'asn1: syntax error: trailing data',
    ],
  ])('refuses %s', (_, pem, message) => {
    expect(() => parseCertificateRequest(pem)).toThrow(message)
  })

  it.each([
    ['ec', 'x509: ECDSA verification failure'],
    ['rsa', 'crypto/rsa: verification error'],
    ['ed25519', 'x509: Ed25519 verification failure'],
  ] as const)(
    'leaves it to signatureProblem() to tell of a wrong signature: %s',
    (key, message) => {
      const bytes = pemBlocks(sampleRequest({ key, commonName: 'ann' }).request)[0]!.bytes
      const changed = Buffer.from(bytes)
      changed[bytes.indexOf('ann')] = 'b'.charCodeAt(0)
      expect(signatureProblem(parseCertificateRequest(pemText('CERTIFICATE REQUEST', changed)))).toBe(message)
    },
  )
})

describe('signRequest()', () => {
  it.each(
    ['ec', 'rsa'] as const,
  )('makes a certificate that Node takes, by an authority with a key of kind %s', (kind) => {
    const ca = authority(kind)
    const sample = sampleRequest({
      commonName: 'system:node:n1',
      organizations: ['system:nodes'],
      dns: ['n1'],
      addresses: ['10.0.0.9'],
    })
    const request = parseCertificateRequest(sample.request)
    const pem = signRequest(
      request,
      ['digital signature', 'server auth'],
      validityOf(24 * hourMs, now, ca),
      ca,
      randomBytes(16),
    )
    const certificate = new X509Certificate(pem)
    expect(certificate.verify(new X509Certificate(ca.certificate).publicKey)).toBe(true)
    expect(certificate.checkIssued(new X509Certificate(ca.certificate))).toBe(true)
    expect(certificate.checkPrivateKey(createPrivateKey(sample.key))).toBe(true)
    expect(certificate.subject).toBe('O=system:nodes\nCN=system:node:n1')
    expect(certificate.subjectAltName).toBe('DNS:n1, IP Address:10.0.0.9')
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
    expect(certificate.ca).toBe(false)
  })

  it.each([
    ['an hour', hourMs, now + hourMs],
    ['a year', 365 * 24 * hourMs, now + 365 * 24 * hourMs - 5 * 60_000],
    ['longer than the authority lives', 20 * 365 * 24 * hourMs, now + 10 * 365 * 24 * hourMs],
  ])('validityOf() %s', (_, durationMs, notAfter) => {
    expect(validityOf(durationMs, now, authority('ec'))).toEqual({ notBefore: now - 5 * 60_000, notAfter })
  })
})
