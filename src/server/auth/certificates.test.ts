import { X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createAuthority, isKeyOf, issueClientCertificate, issueServerCertificate } from './certificates.ts'

const now = Date.parse('2026-01-02T03:04:05Z')

describe('certificates', () => {
  const authority = createAuthority(now)
  const ca = new X509Certificate(authority.certificate)

  it('createAuthority() makes a certificate authority that signed itself', () => {
    expect(ca.ca).toBe(true)
    expect(ca.verify(ca.publicKey)).toBe(true)
    expect(ca.subject).toMatch(/^CN=coxswain-ca@[0-9a-f]{12}$/)
    expect(new X509Certificate(createAuthority(now).certificate).subject).not.toBe(ca.subject)
    expect(isKeyOf(authority)).toBe(true)
  })

  it('issueServerCertificate() names every host and address, IPv6 too', () => {
    const pair = issueServerCertificate(authority, ['localhost', '127.0.0.1', '::1', 'fe80::1:2'], now)
    const server = new X509Certificate(pair.certificate)
    expect(server.verify(ca.publicKey)).toBe(true)
    expect(server.checkHost('localhost')).toBe('localhost')
    expect(server.checkHost('example.com')).toBeUndefined()
    for (const ip of ['127.0.0.1', '::1', 'fe80::1:2']) expect(server.checkIP(ip), ip).toBeDefined()
    expect(server.checkIP('127.0.0.2')).toBeUndefined()
    expect(server.ca).toBe(false)
    expect(isKeyOf(pair)).toBe(true)
  })

  it('issueClientCertificate() carries the user and the groups', () => {
    const client = new X509Certificate(issueClientCertificate(authority, { commonName: 'admin', organizations: ['system:masters', 'devs'] }, now).certificate)
    expect(client.subject.split('\n')).toEqual(['O=system:masters', 'O=devs', 'CN=admin'])
    expect(client.verify(ca.publicKey)).toBe(true)
    expect(client.issuer).toBe(ca.subject)
    expect(Date.parse(client.validFrom)).toBeLessThan(now)
    expect(Date.parse(client.validTo)).toBeGreaterThan(now + 300 * 24 * 3600_000)
  })

  it('isKeyOf() tells a key of another certificate', () => {
    expect(isKeyOf({ certificate: authority.certificate, key: createAuthority(now).key })).toBe(false)
  })

  it('times beyond 2049 have four-digit years', () => {
    const late = new X509Certificate(createAuthority(Date.parse('2045-06-01T00:00:00Z')).certificate)
    expect(new Date(late.validTo).getUTCFullYear()).toBe(2055)
  })
})
