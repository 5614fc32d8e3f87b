import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { X509Certificate } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseCertificateRequest, signRequest, validityOf } from '../../api/x509/index.ts'
import { silentLogger } from '../../base/logger.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import type { ApiRequest, Transport } from '../../client/index.ts'
import { type KeyPair, createAuthority } from '../../server/index.ts'
import { NodeCertificates, clientSigner, requestCertificate } from './node-certificates.ts'

const start = Date.UTC(2026, 0, 1)
const authority = createAuthority(start)
const hourMs = 3_600_000
let dir: string
let clock: VirtualClock
/** The requests for certificates that were made, by signer. */
let asked: string[]
let answer: 'sign' | 'deny' | 'wait'

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'node-certificates-'))
  clock = new VirtualClock(start)
  asked = []
  answer = 'sign'
})
afterEach(() => rmSync(dir, { recursive: true }))

/** An API server that signs requests of nodes for ten hours when they are read. */
function api(): Transport {
  let csr: any
  const signed = () => {
    const request = parseCertificateRequest(Buffer.from(csr.spec.request, 'base64').toString())
    const validity = validityOf(10 * hourMs, clock.now(), authority)
    const certificate = signRequest(request, csr.spec.usages, validity, authority, Buffer.alloc(16, 1))
    return Buffer.from(certificate).toString('base64')
  }
  const send = async ({ method, path: at, body }: ApiRequest): Promise<unknown> => {
    if (at.startsWith('/api/v1/nodes/')) return { status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] } }
    if (method === 'POST') {
      csr = { ...(body as object), metadata: { name: 'csr-1' }, status: {} }
      asked.push(csr.spec.signerName)
      return csr
    }
    if (answer === 'deny') return { ...csr, status: { conditions: [{ type: 'Denied', message: 'no' }] } }
    return answer === 'wait' ? csr : { ...csr, status: { certificate: signed() } }
  }
  return { send, watch: () => () => {}, close: async () => {} } as unknown as Transport
}

/** Lets time pass in steps, with what waits for answers in between. */
async function pass(ms: number, step = 30_000): Promise<void> {
  for (let left = ms; left > 0; left -= step) {
    clock.advance(Math.min(step, left))
    for (let i = 0; i < 10; i++) await Promise.resolve()
  }
}

describe('NodeCertificates', () => {
  it('gets both, shows the serving one, and renews them when four fifths of their time are over', async () => {
    const shown: KeyPair[] = []
    const certificates = new NodeCertificates(dir, 'n1', clock, silentLogger)
    certificates.keep(api(), (pair) => shown.push(pair))
    await pass(5000, 500)
    expect(asked).toEqual([clientSigner, 'kubernetes.io/kubelet-serving'])
    expect(new X509Certificate(shown[0]!.certificate).checkIP('10.0.0.1')).toBeDefined()
    await pass(7 * hourMs)
    expect(asked).toHaveLength(2)
    const before = readFileSync(certificates.client.file, 'utf8')
    await pass(1.1 * hourMs)
    expect(asked).toHaveLength(4)
    expect(shown).toHaveLength(2)
    expect(readFileSync(certificates.client.file, 'utf8')).not.toBe(before)
    expect(statSync(certificates.client.file).mode & 0o777).toBe(0o600)
    certificates.stop()
    await pass(20 * hourMs)
    expect(asked).toHaveLength(4)
  })

  it('finds what was written before, and knows whose it is', async () => {
    const first = new NodeCertificates(dir, 'n1', clock, silentLogger)
    const waiting = requestCertificate({ transport: api(), nodeName: 'n1', clock }, clientSigner)
    await pass(1000, 500)
    first.client.write(await waiting)
    const second = new NodeCertificates(dir, 'n1', clock, silentLogger)
    expect(second.client.isValid('n1', clock.now())).toBe(true)
    expect(second.client.isValid('n2', clock.now())).toBe(false)
    expect(second.client.isValid('n1', clock.now() + 11 * hourMs)).toBe(false)
  })

  it.each<['deny' | 'wait', RegExp]>([
    ['deny', /certificate request csr-1: Denied: no/],
    ['wait', /was not approved within 15 minutes/],
  ])('says why there is none: %s', async (how, message) => {
    answer = how
    const waiting = requestCertificate({ transport: api(), nodeName: 'n1', clock }, clientSigner)
    const refused = expect(waiting).rejects.toThrow(message)
    await pass(16 * 60_000, 500)
    await refused
  })
})
