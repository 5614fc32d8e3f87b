import { beforeEach, describe, expect, it } from 'vitest'
import { isNotFound } from '../../api/errors.ts'
import type { ConfigMap } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { ServerTrial } from '../server-trial.ts'
import { create } from '../verbs/create.ts'

let trial: ServerTrial

beforeEach(async () => {
  trial = await ServerTrial.open()
  for (const name of ['a', 'b']) await create(trial.request('/api/v1/namespaces/default/configmaps', { metadata: { name }, data: { n: '0' } }))
  await create(trial.request('/api/v1/namespaces/kube-system/configmaps', { metadata: { name: 'c' } }))
})

const resource = () => trial.parts.registry.find('v1', 'configmaps')!.resource
const names = (namespace: string) => trial.parts.access.list<ConfigMap>('', 'configmaps', namespace).map((o) => o.metadata.name)

describe('ObjectAccess', () => {
  it('reads objects and lists, of one namespace or all', () => {
    const { access } = trial.parts
    expect(access.get<ConfigMap>('', 'configmaps', 'default', 'a')?.data).toEqual({ n: '0' })
    expect(access.get('', 'configmaps', 'default', 'nobody')).toBeUndefined()
    expect(access.get('x', 'bogus', '', 'a')).toBeUndefined()
    expect([names('default'), names(''), access.list('x', 'bogus', '')]).toEqual([['a', 'b'], ['a', 'b', 'c'], []])
  })

  it('changes an object on top of whatever others have made of it', async () => {
    const { access } = trial.parts
    const raise = () => access.update<ConfigMap>(resource(), 'default', 'a', (copy) => ({ ...copy, data: { n: String(Number(copy.data!.n) + 1) } }))
    await Promise.all(Array.from({ length: 10 }, raise))
    expect(access.get<ConfigMap>('', 'configmaps', 'default', 'a')?.data).toEqual({ n: '10' })
  })

  it('hands out a copy, writes nothing that is the same, and nothing at all in a dry run', async () => {
    const { access, objects } = trial.parts
    const before = objects.revision
    await access.update<ConfigMap>(resource(), 'default', 'a', (copy, stored) => {
      copy.data!.n = 'changed'
      return stored
    })
    const dry = await access.update<ConfigMap>(resource(), 'default', 'a', (copy) => ({ ...copy, data: { n: 'dry' } }), { dryRun: true })
    expect([dry.data, access.get<ConfigMap>('', 'configmaps', 'default', 'a')?.data, objects.revision]).toEqual([{ n: 'dry' }, { n: '0' }, before])
  })

  it('says what it does not find', async () => {
    const missing = trial.parts.access.update(resource(), 'default', 'nobody', (copy) => copy)
    expect(await missing.catch(isNotFound)).toBe(true)
  })

  it('deletes as a request does, with preconditions and dry runs', async () => {
    const { access } = trial.parts
    await expect(access.delete(resource(), 'default', 'a', { preconditions: { uid: 'other' } })).rejects.toMatchObject({ reason: 'Conflict' })
    await access.delete(resource(), 'default', 'a', {}, { dryRun: true })
    expect(names('default')).toEqual(['a', 'b'])
    await access.delete(resource(), 'default', 'a', {})
    expect(names('default')).toEqual(['b'])
  })

  it('finds the objects of a second version where they are stored', async () => {
    await create(trial.request('/api/v1/namespaces/default/events', { metadata: { name: 'e' }, involvedObject: { namespace: 'default' } }))
    const grouped = trial.parts.registry.find('events.k8s.io/v1', 'events')!.resource
    const updated = await trial.parts.access.update<KubeObject & { message?: string }>(grouped, 'default', 'e', (copy) => ({ ...copy, message: 'hi' }))
    expect(updated.message).toBe('hi')
  })
})
