import { X509Certificate, createPrivateKey } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SampleRequest, base64, sampleRequest } from '../../src/api/x509/sample-request.ts'
import { useCluster } from '../kubectl/cluster.ts'
import { type RunningPart, startControllers } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'

const cluster = useCluster()

let controllers: RunningPart | undefined

beforeAll(async () => {
  const pki = path.join(path.dirname(cluster.server.kubeconfig), 'pki')
  const signing = [
    '--cluster-signing-cert-file',
    path.join(pki, 'ca.crt'),
    '--cluster-signing-key-file',
    path.join(pki, 'ca.key'),
  ]
  controllers = await startControllers(cluster.server.kubeconfig, ['--leader-elect=false', ...signing])
})
afterAll(() => controllers?.stop())

const waiting = { timeout: 40_000 }

/** Sends a request for a certificate, and answers with its key. */
async function ask(
  name: string,
  signer: string,
  usages: string[],
  about: SampleRequest,
  more: object = {},
): Promise<string> {
  const { request, key } = sampleRequest(about)
  const spec = { request: base64(request), signerName: `kubernetes.io/${signer}`, usages, ...more }
  const csr = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name }, spec }
  await cluster.kubectl.ok('create -f -', JSON.stringify(csr))
  return key
}

const field = (name: string, jsonpath: string) => cluster.kubectl.ok(`get csr ${name} -o jsonpath={${jsonpath}}`)
const conditionOf = async (name: string) => (await cluster.kubectl.ok(
  `get csr ${name} --no-headers`,
)).trim().split(/ +/).at(-1)
const certificateOf = async (name: string) => Buffer.from(await field(name, '.status.certificate'), 'base64').toString()

describe('kubectl certificate', () => {
  it('approve has the request signed, and the certificate is a user', async () => {
    const { kubectl } = cluster
    const key = await ask(
      'ann',
      'kube-apiserver-client',
      ['client auth'],
      { commonName: 'ann', organizations: ['crew'] },
      { expirationSeconds: 3600 },
    )
    expect((await kubectl.ok('get csr')).replace(/ann +\d+s/, 'ann    AGE')).toBe(
      'NAME   AGE   SIGNERNAME                            REQUESTOR          REQUESTEDDURATION   CONDITION\n' +
        'ann    AGE    kubernetes.io/kube-apiserver-client   kubernetes-admin   60m                 Pending\n',
    )
    expect(await kubectl.ok('certificate approve ann')).toBe(
      'certificatesigningrequest.certificates.k8s.io/ann approved\n',
    )
    await expect.poll(() => conditionOf('ann'), waiting).toBe('Approved,Issued')

    const certificate = await certificateOf('ann')
    const read = new X509Certificate(certificate)
    expect(read.checkPrivateKey(createPrivateKey(key))).toBe(true)
    expect(Date.parse(read.validTo) - Date.now()).toBeGreaterThan(3_500_000)
    expect(Date.parse(read.validTo) - Date.now()).toBeLessThan(3_600_001)

    const admin = readFileSync(cluster.server.kubeconfig, 'utf8')
    const own = path.join(path.dirname(cluster.server.kubeconfig), 'ann.kubeconfig')
    writeFileSync(own, admin
      .replace(/client-certificate-data: \S+/, `client-certificate-data: ${base64(certificate)}`)
      .replace(/client-key-data: \S+/, `client-key-data: ${base64(key)}`))
    const ann = new Kubectl(own)
    try {
      const { status } = JSON.parse(await ann.ok('auth whoami -o json'))
      expect(status.userInfo).toMatchObject({ username: 'ann', groups: ['crew', 'system:authenticated'] })
    } finally {
      ann.remove()
    }
  })

  it('deny leaves it unsigned', async () => {
    await ask('denied', 'kube-apiserver-client', ['client auth'], {})
    await cluster.kubectl.ok('certificate deny denied')
    expect(await conditionOf('denied')).toBe('Denied')
    expect(await cluster.kubectl.refused('certificate approve denied')).toBe(
      'error: certificate signing request "denied" is already Denied\n',
    )
  })
})

describe('a certificate signing request', () => {
  it('that breaks the rules of its signer fails, with the reason', async () => {
    await ask('server', 'kube-apiserver-client', ['client auth', 'server auth'], {})
    await cluster.kubectl.ok('certificate approve server')
    await expect.poll(() => conditionOf('server'), waiting).toBe('Approved,Failed')
    expect(await field(
      'server',
      '.status.conditions[1].message',
    )).toBe('invalid usage for client certificate: server auth')
  })

  it('of a node is approved and signed by itself', async () => {
    await ask(
      'node',
      'kube-apiserver-client-kubelet',
      ['digital signature', 'client auth'],
      { commonName: 'system:node:n1', organizations: ['system:nodes'] },
    )
    await expect.poll(() => conditionOf('node'), waiting).toBe('Approved,Issued')
    expect(await field('node', '.status.conditions[0].reason')).toBe('AutoApproved')
  })

  it('for a serving certificate of a node waits for a person', async () => {
    await ask(
      'serving',
      'kubelet-serving',
      ['digital signature', 'server auth'],
      { commonName: 'system:node:n1', organizations: ['system:nodes'], dns: ['n1'] },
    )
    await cluster.kubectl.ok('certificate approve serving')
    await expect.poll(() => conditionOf('serving'), waiting).toBe('Approved,Issued')
    expect(new X509Certificate(await certificateOf('serving')).subjectAltName).toBe('DNS:n1')
  })

  it('is found by its signer, described, explained and deleted', async () => {
    const { kubectl } = cluster
    expect(await kubectl.ok(
      'get csr --field-selector spec.signerName=kubernetes.io/kubelet-serving -o name',
    )).toBe('certificatesigningrequest.certificates.k8s.io/serving\n')
    expect(await kubectl.ok('describe csr serving')).toContain('DNS Names:  n1')
    expect(await kubectl.ok('explain csr.spec.usages')).toContain('FIELD: usages <[]string>')
    expect(await kubectl.ok('delete csr serving')).toBe(
      'certificatesigningrequest.certificates.k8s.io "serving" deleted\n',
    )
  })

  it('for system:masters is refused', async () => {
    const refused = ask('masters', 'kube-apiserver-client', ['client auth'], { organizations: ['system:masters'] })
    await expect(refused).rejects.toThrow(
      'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    )
  })
})
