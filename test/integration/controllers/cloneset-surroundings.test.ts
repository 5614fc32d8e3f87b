import { describe, expect, it } from 'vitest'
import { type New, clonesets, clonesetsV1beta1, configmaps, isNotFound, namespaces, ownerReference, resourcequotas } from '../../../src/client/index.ts'
import type { CloneSet, V1beta1CloneSet } from '../../../src/api/generated/types.ts'
import { garbageCollector } from '../../../src/controllers/garbage-collector/controller.ts'
import { namespaceController } from '../../../src/controllers/namespace/controller.ts'
import { resourceQuotaController } from '../../../src/controllers/resource-quota/controller.ts'
import { Scene } from '../kit/scene.ts'

const spec = { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } }
const set = <T extends CloneSet | V1beta1CloneSet>(name: string, namespace = 'default') => ({ metadata: { name, namespace }, spec }) as unknown as New<T>

describe('what other controllers see of clonesets', () => {
  it.each([
    ['v1alpha1', clonesets],
    ['v1beta1', clonesetsV1beta1],
  ] as const)('the garbage collector deletes what a set of %s owned', async (_, type) => {
    const s = await Scene.start({ controllers: [garbageCollector] })
    const owner = await s.client.create(type, set(`owner`))
    await s.client.create(configmaps, { metadata: { name: 'owned', namespace: 'default', ownerReferences: [ownerReference(owner)] } })
    await s.pass(1000)
    expect((await s.client.get(configmaps, 'default', 'owned')).metadata.name).toBe('owned')
    await s.client.delete(type, 'default', 'owner', { propagationPolicy: 'Background' })
    await s.pass(1000)
    await expect(s.client.get(configmaps, 'default', 'owned')).rejects.toSatisfy(isNotFound)
  })

  it('a namespace that is deleted takes them along', async () => {
    const s = await Scene.start({ controllers: [namespaceController] })
    await s.client.create(namespaces, { metadata: { name: 'rowers' } })
    await s.client.create(clonesets, set<CloneSet>('web', 'rowers'))
    await s.client.delete(namespaces, '', 'rowers')
    await s.pass(3000)
    expect((await s.client.list(clonesets, '')).items).toEqual([])
    await expect(s.client.get(namespaces, '', 'rowers')).rejects.toSatisfy(isNotFound)
  })

  it('a quota counts each once, in whichever version it was made', async () => {
    const s = await Scene.start({ controllers: [resourceQuotaController] })
    const name = 'count/clonesets.apps.kruise.io'
    await s.client.create(clonesets, set<CloneSet>('before'))
    await s.client.create(resourcequotas, { metadata: { name: 'q', namespace: 'default' }, spec: { hard: { [name]: '2' } } })
    await s.pass(1000)
    expect((await s.client.get(resourcequotas, 'default', 'q')).status?.used).toEqual({ [name]: '1' })
    await s.client.create(clonesetsV1beta1, set<V1beta1CloneSet>('second'))
    await expect(s.client.create(clonesetsV1beta1, set<V1beta1CloneSet>('third'))).rejects.toThrow(`exceeded quota: q, requested: ${name}=1, used: ${name}=2, limited: ${name}=2`)
  })
})
