import { describe, expect, it } from 'vitest'
import { clusterroles, configmaps, namespaces, serviceaccounts } from '../../../src/client/index.ts'
import { clusterRoleAggregationController } from '../../../src/controllers/cluster-role-aggregation/controller.ts'
import { rootCaPublisher } from '../../../src/controllers/root-ca/controller.ts'
import { serviceAccountController } from '../../../src/controllers/service-account/controller.ts'
import { Scene } from '../kit/scene.ts'

const start = () => Scene.start({ controllers: [serviceAccountController, rootCaPublisher('CA'), clusterRoleAggregationController] })
const accounts = async (s: Scene, namespace: string) => (await s.client.list(serviceaccounts, namespace)).items.map(({ metadata }) => metadata.name)
const published = async (s: Scene, namespace: string) => (await s.client.get(configmaps, namespace, 'kube-root-ca.crt')).data

describe('every namespace', () => {
  it('has a service account and the certificates: those that were there, and new ones', async () => {
    const s = await start()
    await s.client.create(namespaces, { metadata: { name: 'new' } })
    await s.pass(1000)
    for (const namespace of ['default', 'kube-system', 'new']) {
      expect(await accounts(s, namespace)).toEqual(['default'])
      expect(await published(s, namespace)).toEqual({ 'ca.crt': 'CA' })
    }
  })

  it('gets them again when they are deleted or spoilt', async () => {
    const s = await start()
    await s.pass(1000)
    await s.client.delete(serviceaccounts, 'default', 'default')
    await s.client.delete(configmaps, 'default', 'kube-root-ca.crt')
    await s.client.patch(configmaps, 'kube-system', 'kube-root-ca.crt', { data: { 'ca.crt': 'other', more: 'x' } }, { type: 'merge' })
    await s.pass(1000)
    expect(await accounts(s, 'default')).toEqual(['default'])
    expect([await published(s, 'default'), await published(s, 'kube-system')]).toEqual([{ 'ca.crt': 'CA' }, { 'ca.crt': 'CA' }])
  })

  it('gets nothing any more when it is ending', async () => {
    const s = await start()
    await s.client.create(namespaces, { metadata: { name: 'old' } })
    await s.pass(1000)
    await s.client.delete(namespaces, '', 'old')
    await s.client.delete(serviceaccounts, 'old', 'default')
    await s.client.delete(configmaps, 'old', 'kube-root-ca.crt')
    const before = s.wire.writes.length
    await s.pass(60_000)
    expect(s.wire.writes).toHaveLength(before)
    expect(s.warnings).toEqual([])
  })

  it('is left alone while nothing changes', async () => {
    const s = await start()
    await s.pass(1000)
    const before = s.wire.writes.length
    await s.client.create(configmaps, { metadata: { name: 'other', namespace: 'default' } })
    await s.pass(600_000)
    expect(s.wire.writes).toHaveLength(before)
  })

  it('gets no certificates where there are none', async () => {
    const s = await Scene.start({ controllers: [rootCaPublisher('')] })
    await s.pass(1000)
    expect((await s.client.list(configmaps, '')).items).toEqual([])
  })
})

describe('a cluster role that aggregates', () => {
  const rule = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['get'] })
  const rulesOf = async (s: Scene, name: string) => (await s.client.get(clusterroles, '', name)).rules?.map(({ resources }) => resources?.[0]) ?? []
  const aggregate = (name: string, to: string, labels: Record<string, string> = {}) =>
    ({ metadata: { name, labels }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to } }] }, rules: [] })

  it('follows the roles it selects, and those that they select', async () => {
    const s = await start()
    await s.client.create(clusterroles, aggregate('view', 'view', { to: 'edit' }))
    await s.client.create(clusterroles, aggregate('edit', 'edit'))
    await s.client.create(clusterroles, { metadata: { name: 'pods', labels: { to: 'view' } }, rules: [rule('pods')] })
    await s.pass(1000)
    expect([await rulesOf(s, 'view'), await rulesOf(s, 'edit')]).toEqual([['pods'], ['pods']])
    await s.client.patch(clusterroles, '', 'pods', { metadata: { labels: { to: 'nobody' } } }, { type: 'merge' })
    await s.pass(1000)
    expect([await rulesOf(s, 'view'), await rulesOf(s, 'edit')]).toEqual([[], []])
  })

  it('is not written again', async () => {
    const s = await start()
    await s.client.create(clusterroles, aggregate('view', 'view'))
    await s.client.create(clusterroles, { metadata: { name: 'pods', labels: { to: 'view' } }, rules: [rule('pods')] })
    await s.pass(1000)
    const before = s.wire.writes.length
    await s.client.patch(clusterroles, '', 'pods', { metadata: { annotations: { a: 'b' } } }, { type: 'merge' })
    await s.pass(600_000)
    expect(s.wire.writes).toHaveLength(before)
  })
})
