import { describe, expect, it } from 'vitest'
import type { CertificateSigningRequest, Node } from '../../api/generated/types.ts'
import { type SampleRequest, base64, sampleRequest } from '../../api/x509/sample-request.ts'
import { planApproving } from './approving.ts'
import { planCleaning } from './cleaning.ts'
import { durationMs, planSigning } from './signing.ts'

const at = '2026-01-01T00:00:00Z'
const atMs = Date.parse(at)
const hourMs = 3_600_000
const condition = (type: string) => ({ type, status: 'True', lastUpdateTime: at, lastTransitionTime: at })

const csr = (
  spec: object,
  about: SampleRequest = {},
  status: object = { conditions: [condition('Approved')] },
): CertificateSigningRequest =>
  ({
    metadata: { name: 'x', creationTimestamp: at },
    spec: { request: base64(sampleRequest(about).request), ...spec },
    status,
  }) as CertificateSigningRequest

const node: SampleRequest = { commonName: 'system:node:n1', organizations: ['system:nodes'] }
const client = 'kubernetes.io/kube-apiserver-client'
const kubelet = 'kubernetes.io/kube-apiserver-client-kubelet'
const serving = 'kubernetes.io/kubelet-serving'
const clientUsages = ['digital signature', 'key encipherment', 'client auth']
const serverUsages = ['digital signature', 'key encipherment', 'server auth']

describe('planSigning() of a request to', () => {
  it.each<[string, string, string[], SampleRequest, string]>([
    [client, 'with all usages', clientUsages, {}, 'Sign'],
    [client, 'with client auth alone', ['client auth'], {}, 'Sign'],
    [
      client,
      'with server auth',
      ['client auth', 'server auth'],
      {},
      'invalid usage for client certificate: server auth',
    ],
    [
      client,
      'without client auth',
      ['digital signature'],
      {},
      'missing required usage for client certificate: client auth',
    ],
    [kubelet, 'of a node', clientUsages, node, 'Sign'],
    [kubelet, 'of a node whose key enciphers no keys', ['client auth', 'digital signature'], node, 'Sign'],
    [
      kubelet,
      'of another group',
      clientUsages,
      { ...node, organizations: ['system:nodes', 'crew'] },
      'subject organization is not system:nodes',
    ],
    [
      kubelet,
      'of somebody else',
      clientUsages,
      { ...node, commonName: 'ann' },
      'subject common name does not begin with system:node:',
    ],
    [kubelet, 'with a DNS name', clientUsages, { ...node, dns: ['n1'] }, 'DNS subjectAltNames are not allowed'],
    [
      kubelet,
      'with an address',
      clientUsages,
      { ...node, addresses: ['10.0.0.1'] },
      'IP subjectAltNames are not allowed',
    ],
    [
      kubelet,
      'with an e-mail address',
      clientUsages,
      { ...node, emails: ['a@b'] },
      'Email subjectAltNames are not allowed',
    ],
    [kubelet, 'with a URI', clientUsages, { ...node, uris: ['spiffe://x'] }, 'URI subjectAltNames are not allowed'],
    [
      kubelet,
      'with other usages',
      serverUsages,
      node,
      'usages did not match [client auth digital signature key encipherment]',
    ],
    [serving, 'of a node with a name', serverUsages, { ...node, dns: ['n1'] }, 'Sign'],
    [
      serving,
      'of a node with an address',
      ['digital signature', 'server auth'],
      { ...node, addresses: ['10.0.0.1'] },
      'Sign',
    ],
    [serving, 'without a name', serverUsages, node, 'DNS or IP subjectAltName is required'],
    [
      serving,
      'with client auth',
      clientUsages,
      { ...node, dns: ['n1'] },
      'usages did not match [digital signature key encipherment server auth]',
    ],
    [
      serving,
      'of somebody else',
      serverUsages,
      { ...node, commonName: 'ann', dns: ['n1'] },
      'subject common name does not begin with system:node:',
    ],
  ])('%s %s', (signerName, _, usages, about, wanted) => {
    const [action] = planSigning(csr({ signerName, usages }, about)).actions
    expect(action?.kind === 'Fail' ? action.message : action?.kind).toBe(wanted)
  })

  it.each<[string, object, object]>([
    ['another signer', { signerName: 'example.com/x' }, { conditions: [condition('Approved')] }],
    ['nobody who has approved it', { signerName: client }, {}],
    ['somebody who has denied it', { signerName: client }, { conditions: [condition('Denied')] }],
    ['a signer that has failed', { signerName: client }, { conditions: [condition('Approved'), condition('Failed')] }],
    ['a signer that has signed', { signerName: client }, { conditions: [condition('Approved')], certificate: 'eA==' }],
  ])('%s does nothing', (_, spec, status) => {
    expect(planSigning(csr({ usages: ['client auth'], ...spec }, {}, status)).actions).toEqual([])
  })

  it.each([
    [undefined, 8 * hourMs],
    [599, 600_000],
    [3600, hourMs],
    [1e6, 8 * hourMs],
  ])('durationMs() of %s seconds is %d', (seconds, wanted) => {
    expect(durationMs(seconds, 8 * hourMs)).toBe(wanted)
  })
})

describe('planApproving() of', () => {
  it.each<[string, object, SampleRequest, string | undefined]>([
    [
      'a node that renews its own',
      { username: 'system:node:n1', groups: ['system:nodes'] },
      node,
      'Auto approving self kubelet client certificate after SubjectAccessReview.',
    ],
    ['a node that asks for another', { username: 'system:node:n2', groups: ['system:nodes'] }, node, undefined],
    [
      'a bootstrap token',
      { username: 'system:bootstrap:abc', groups: ['system:bootstrappers:kubeadm:default-node-token'] },
      node,
      'Auto approving kubelet client certificate after SubjectAccessReview.',
    ],
    [
      'an administrator',
      { username: 'root', groups: ['system:masters'] },
      node,
      'Auto approving kubelet client certificate after SubjectAccessReview.',
    ],
    ['somebody', { username: 'ann', groups: ['system:authenticated'] }, node, undefined],
    ['somebody with the name of a node', { username: 'system:node:n1', groups: ['crew'] }, node, undefined],
    [
      'what is no certificate of a node',
      { username: 'root', groups: ['system:masters'] },
      { commonName: 'ann' },
      undefined,
    ],
    ['another signer', { username: 'root', groups: ['system:masters'], signerName: client }, node, undefined],
  ])('%s', (_, spec, about, message) => {
    const { actions } = planApproving(csr({ signerName: kubelet, usages: clientUsages, ...spec }, about, {}))
    expect(actions[0]?.message).toBe(message)
  })

  it('what is decided already', () => {
    const spec = { signerName: kubelet, usages: clientUsages, username: 'root', groups: ['system:masters'] }
    expect(planApproving(csr(spec, node, { conditions: [condition('Denied')] })).actions).toEqual([])
  })
})

describe('planApproving() of a serving certificate', () => {
  const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }, { type: 'Hostname', address: 'n1' }]
  const known = { metadata: { name: 'n1' }, status: { addresses } } as unknown as Node
  const self = { username: 'system:node:n1', groups: ['system:nodes'] }
  const names = { ...node, addresses: ['10.0.0.1'], dns: ['n1'] }
  it.each<[string, object, SampleRequest, Node | undefined, boolean]>([
    ['a node for its own addresses', self, names, known, true],
    ['a node for one of them', self, { ...node, addresses: ['10.0.0.1'] }, known, true],
    ['a node for another address', self, { ...names, addresses: ['10.0.0.2'] }, known, false],
    ['a node for another name', self, { ...names, dns: ['kubernetes.default.svc'] }, known, false],
    ['a node that is not there', self, names, undefined, false],
    ['a node for another one', { ...self, username: 'system:node:n2' }, names, known, false],
    ['a user of that name', { username: 'system:node:n1', groups: ['crew'] }, names, known, false],
    ['a bootstrap token', { username: 'system:bootstrap:abc', groups: ['system:bootstrappers'] }, names, known, false],
    ['client usages', { ...self, usages: clientUsages }, names, known, false],
  ])('%s', (_, spec, about, found, isApproved) => {
    const { actions } = planApproving(csr({ signerName: serving, usages: serverUsages, ...spec }, about, {}), found)
    expect(actions).toHaveLength(isApproved ? 1 : 0)
  })
})

describe('planCleaning() keeps', () => {
  const certificate = 'bm90IGEgY2VydGlmaWNhdGU='

  it.each<[string, object, number | undefined]>([
    ['what nobody has decided for a day', {}, 24 * hourMs],
    ['what was denied for an hour', { conditions: [condition('Denied')] }, hourMs],
    ['what failed for an hour', { conditions: [condition('Approved'), condition('Failed')] }, hourMs],
    ['what was issued for an hour', { conditions: [condition('Approved')], certificate }, hourMs],
    ['what was approved and not issued', { conditions: [condition('Approved')] }, undefined],
  ])('%s', (_, status, keptMs) => {
    const planAt = (ms: number) => planCleaning({ csr: csr({}, {}, status), nowMs: atMs + ms })
    expect(planAt(1000)).toEqual(keptMs === undefined ? { actions: [] } : {
      actions: [],
      requeueAfterMs: keptMs - 1000 + 1,
    })
    expect(planAt((keptMs ?? 1e12) + 1).actions).toEqual(keptMs === undefined ? [] : [{ kind: 'Delete' }])
  })
})
