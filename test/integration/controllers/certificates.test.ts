import { X509Certificate } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CertificateSigningRequest } from '../../../src/api/generated/types.ts'
import { type SampleRequest, base64, sampleRequest } from '../../../src/api/x509/sample-request.ts'
import { VirtualClock } from '../../../src/base/virtual-clock.ts'
import { certificatesigningrequests } from '../../../src/client/index.ts'
import { passTime, settled } from '../../../src/cluster/testing/passing-time.ts'
import { type TestCluster, startCluster } from '../../../src/cluster/testing/test-cluster.ts'
import { csrApprovingController } from '../../../src/controllers/certificates/approving.ts'
import { csrCleanerController } from '../../../src/controllers/certificates/cleaning.ts'
import { csrSigningController } from '../../../src/controllers/certificates/signing.ts'
import { createAuthority } from '../../../src/server/index.ts'
import { SeededRandom } from '../../seeded-random.ts'

const hourMs = 3_600_000
const start = Date.UTC(2026, 0, 1)
const authority = createAuthority(start)

let clock: VirtualClock
let cluster: TestCluster

beforeEach(async () => {
  clock = new VirtualClock(start)
  const controllers = [csrApprovingController, csrSigningController(authority, 24 * hourMs), csrCleanerController]
  cluster = await startCluster({ clock, random: new SeededRandom(1), controllers })
  await passTime(clock, 1000)
})
afterEach(() => cluster.stop())

async function ask(name: string, signerName: string, usages: string[], about: SampleRequest = {}): Promise<void> {
  const spec = { request: base64(sampleRequest(about).request), signerName: `kubernetes.io/${signerName}`, usages }
  await cluster.client.create(certificatesigningrequests, { metadata: { name }, spec, status: {} } as never)
  await settle()
}

async function approve(name: string): Promise<void> {
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Test' }]
  const options = { type: 'merge', subresource: 'approval' } as const
  await cluster.client.patch(certificatesigningrequests, '', name, { status: { conditions } }, options)
  await settle()
}

/** Lets the controllers hear of a change and answer it. */
const settle = async () => {
  await settled()
  await passTime(clock, 1000)
}

const read = (name: string) => cluster.client.get(certificatesigningrequests, '', name)
const names = async () =>
  (await cluster.client.list(certificatesigningrequests, '')).items.map(({ metadata }) => metadata.name)
const types = ({ status }: CertificateSigningRequest) => status.conditions?.map(({ type }) => type)

describe('a certificate signing request', () => {
  it('is signed once it is approved, for as long as the signer gives at most', async () => {
    await ask('ann', 'kube-apiserver-client', ['client auth'])
    expect((await read('ann')).status).toEqual({})
    await approve('ann')
    const { status } = await read('ann')
    const certificate = new X509Certificate(Buffer.from(status.certificate!, 'base64'))
    expect(certificate.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true)
    const lifeMs = Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)
    expect(lifeMs).toBe(24 * hourMs)
  })

  it('of a node is approved by itself', async () => {
    const node = { commonName: 'system:node:n1', organizations: ['system:nodes'] }
    await ask('node', 'kube-apiserver-client-kubelet', ['digital signature', 'client auth'], node)
    const csr = await read('node')
    expect([types(csr), Boolean(csr.status.certificate)]).toEqual([['Approved'], true])
  })

  it('that breaks the rules fails, keeps its approval, and is not tried again', async () => {
    await ask('bad', 'kubelet-serving', ['server auth'], { dns: ['n1'] })
    await approve('bad')
    const failed = await read('bad')
    expect(types(failed)).toEqual(['Approved', 'Failed'])
    expect(failed.status.conditions![1]).toMatchObject({
      reason: 'SignerValidationFailure',
      message: 'subject organization is not system:nodes',
    })
    await passTime(clock, 600_000)
    expect((await read('bad')).metadata.resourceVersion).toBe(failed.metadata.resourceVersion)
  })

  it('is deleted an hour after it was answered, and a day after it was made if nobody decides', async () => {
    await ask('answered', 'kube-apiserver-client', ['client auth'])
    await ask('waiting', 'kube-apiserver-client', ['client auth'])
    await approve('answered')
    await passTime(clock, hourMs - 10_000)
    expect(await names()).toEqual(['answered', 'waiting'])
    await passTime(clock, 20_000)
    expect(await names()).toEqual(['waiting'])
    await passTime(clock, 23 * hourMs)
    expect(await names()).toEqual([])
  })
})
