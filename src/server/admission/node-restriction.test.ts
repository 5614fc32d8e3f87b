import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { ServerTrial } from '../server-trial.ts'
import type { UserInfo } from '../objects/objects.ts'

const node: UserInfo = { name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] }
const api = '/api/v1'
const pods = `${api}/namespaces/default/pods`

const pod = (name: string, nodeName: string, more: object = {}) => ({
  apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default', ...more }, spec: { nodeName, containers: [{ name: 'c', image: 'i' }] },
})
const nodeObject = (name: string, labels: Record<string, string> = {}) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } })
const token = (bound?: object) => ({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: { audiences: [], ...(bound ? { boundObjectRef: bound } : {}) } })

async function open(): Promise<{ trial: ServerTrial; uidOf(plural: string, name: string): string }> {
  const trial = await ServerTrial.open()
  const uidOf = (plural: string, name: string) => trial.parts.access.get<KubeObject>('', plural, 'default', name)!.metadata.uid!
  await trial.run('POST', `${api}/namespaces/default/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'app' } })
  await trial.run('POST', `${api}/nodes`, nodeObject('n1'))
  for (const [name, where] of [['here', 'n1'], ['there', 'n2']] as const) await trial.run('POST', pods, pod(name, where))
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }
  await trial.run('POST', `${api}/namespaces/default/persistentvolumeclaims`, claim)
  return { trial, uidOf }
}

describe('NodeRestriction', () => {
  const claims = `${api}/namespaces/default/persistentvolumeclaims`
  it.each<[string, string, string, object | undefined, string]>([
    ['a pod that is no mirror', 'POST', pods, pod('new', 'n1'), 'node "n1" can only create mirror pods'],
    ['a mirror pod of another node', 'POST', pods, pod('new', 'n2', { annotations: { 'kubernetes.io/config.mirror': 'x' } }), 'can only create pods with spec.nodeName set to itself'],
    ['a status of another node\'s pod', 'PATCH', `${pods}/there/status`, { status: { phase: 'Failed' } }, 'can only update pod status for pods with spec.nodeName set to itself'],
    ['labels through a status', 'PATCH', `${pods}/here/status`, { metadata: { labels: { a: 'b' } } }, 'cannot update labels through pod status'],
    ['a delete of another node\'s pod', 'DELETE', `${pods}/there`, undefined, 'can only delete pods with spec.nodeName set to itself'],
    ['another node', 'POST', `${api}/nodes`, nodeObject('n3'), 'node "n1" is not allowed to modify node "n3"'],
    ['taints', 'PATCH', `${api}/nodes/n1`, { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }, 'is not allowed to modify taints'],
    ['labels that say who may run there', 'PATCH', `${api}/nodes/n1`, { metadata: { labels: { 'node-restriction.kubernetes.io/a': 'b' } } }, 'is not allowed to modify labels: node-restriction.kubernetes.io/a'],
    ['a lease of another node', 'POST', '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'n2' } },
      'can only access node lease with the same name as the requesting node'],
    ['a claim\'s labels', 'PATCH', `${claims}/data`, { metadata: { labels: { a: 'b' } } }, 'can only set the annotation coxswain.dev/claim-used'],
    ['a token that is bound to nothing', 'POST', `${api}/namespaces/default/serviceaccounts/app/token`, token(), 'node requested token not bound to a pod'],
  ])('refuses %s', async (_, method, url, body, why) => {
    const { trial } = await open()
    await expect(trial.run(method, url, body, node)).rejects.toThrow(why)
  })

  it('refuses a token of another node\'s pod, and gives one of its own', async () => {
    const { trial, uidOf } = await open()
    const ask = (name: string) => trial.run('POST', `${api}/namespaces/default/serviceaccounts/app/token`, token({ kind: 'Pod', apiVersion: 'v1', name, uid: uidOf('pods', name) }), node)
    await expect(ask('there')).rejects.toThrow('node requested token bound to a pod scheduled on a different node')
    await trial.run('DELETE', `${pods}/here?gracePeriodSeconds=0`, undefined, node)
  })

  it.each<[string, string, string, object | undefined]>([
    ['its own status', 'PATCH', `${api}/nodes/n1/status`, { status: { phase: 'Running' } }],
    ['labels of its own', 'PATCH', `${api}/nodes/n1`, { metadata: { labels: { 'kubernetes.io/arch': 'amd64', 'example.com/a': 'b' } } }],
    ['the status of its pod', 'PATCH', `${pods}/here/status`, { status: { phase: 'Running' } }],
    ['a delete of its pod', 'DELETE', `${pods}/here`, undefined],
    ['the mark of a claim', 'PATCH', `${claims}/data`, { metadata: { annotations: { 'coxswain.dev/claim-used': 'now' } } }],
    ['how large a claim is', 'PATCH', `${claims}/data/status`, { status: { capacity: { storage: '1Gi' } } }],
  ])('lets a node write %s', async (_, method, url, body) => {
    const { trial } = await open()
    await expect(trial.run(method, url, body, node)).resolves.toBeDefined()
  })

  it('leaves others alone', async () => {
    const { trial } = await open()
    await expect(trial.run('POST', `${api}/nodes`, nodeObject('n3'))).resolves.toBeDefined()
  })
})
