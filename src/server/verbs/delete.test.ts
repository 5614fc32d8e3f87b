import { beforeEach, describe, expect, it } from 'vitest'
import { deepFreeze } from '../../api/json/index.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Result } from '../requests/request.ts'
import { ServerTrial } from '../server-trial.ts'
import { create } from './create.ts'
import { deleteCollection } from './delete-collection.ts'
import { markDeleted } from '../write/deletion.ts'
import { deleteOne, readDeleteOptions } from './delete.ts'

let trial: ServerTrial
const configMaps = '/api/v1/namespaces/default/configmaps'

beforeEach(async () => {
  trial = await ServerTrial.open()
})

const find = (plural: string, apiVersion = 'v1') => trial.parts.registry.find(apiVersion, plural)!

describe('readDeleteOptions()', () => {
  const read = (url: string, body?: unknown) => readDeleteOptions(trial.request(url, body))

  it.each([
    ['nothing', `${configMaps}/a`, undefined, {}],
    ['the query', `${configMaps}/a?gracePeriodSeconds=5&propagationPolicy=Orphan&dryRun=All`, undefined, { gracePeriodSeconds: 5, propagationPolicy: 'Orphan', dryRun: ['All'] }],
    ['the body', `${configMaps}/a`, { gracePeriodSeconds: 0, preconditions: { uid: 'u' } }, { gracePeriodSeconds: 0, preconditions: { uid: 'u' } }],
    ['the body, and the query for the dry run only', `${configMaps}/a?dryRun=All&gracePeriodSeconds=5`, { gracePeriodSeconds: 1 }, { gracePeriodSeconds: 1, dryRun: ['All'] }],
  ])('takes %s', async (_what, url, body, expected) => {
    expect(await read(url, body)).toMatchObject(expected)
  })

  it.each([
    ['a policy that is none', `${configMaps}/a?propagationPolicy=bogus`, undefined, 422],
    ['both ways to say what becomes of dependents', `${configMaps}/a`, { propagationPolicy: 'Orphan', orphanDependents: true }, 422],
    ['a dry run that is none', `${configMaps}/a?dryRun=x`, undefined, 422],
    ['a time that is none', `${configMaps}/a?gracePeriodSeconds=soon`, undefined, 400],
    ['an object in place of options', `${configMaps}/a`, { kind: 'Pod', apiVersion: 'v1' }, 400],
    ['options of a wrong type', `${configMaps}/a`, { gracePeriodSeconds: 'x' }, 400],
  ])('refuses %s', async (_what, url, body, code) => {
    await expect(read(url, body)).rejects.toMatchObject({ code })
  })
})

describe('markDeleted()', () => {
  const now = Date.UTC(2026, 0, 1)
  const object = (metadata: object = {}, rest: object = {}): KubeObject => ({ metadata: { name: 'a', ...metadata }, ...rest })
  const running = { spec: { nodeName: 'n', containers: [], terminationGracePeriodSeconds: 30 }, status: { phase: 'Running' } }

  it.each([
    ['a plain object', 'configmaps', object(), {}, { isRemoved: true }],
    ['one with a finalizer', 'configmaps', object({ finalizers: ['x/y'] }), {}, { isRemoved: false, finalizers: ['x/y'] }],
    ['one whose dependents go first', 'configmaps', object(), { propagationPolicy: 'Foreground' }, { isRemoved: false, finalizers: ['foregroundDeletion'] }],
    ['one whose dependents stay', 'configmaps', object(), { orphanDependents: true }, { isRemoved: false, finalizers: ['orphan'] }],
    ['one that was to wait, and shall not', 'configmaps', object({ finalizers: ['orphan'] }), { propagationPolicy: 'Background' }, { isRemoved: true, finalizers: undefined }],
    ['a running pod', 'pods', object({}, running), {}, { isRemoved: false, grace: 30, at: '2026-01-01T00:00:30Z' }],
    ['a running pod, in a hurry', 'pods', object({}, running), { gracePeriodSeconds: 3 }, { isRemoved: false, grace: 3, at: '2026-01-01T00:00:03Z' }],
    ['a running pod, by force', 'pods', object({}, running), { gracePeriodSeconds: 0 }, { isRemoved: true }],
    ['a pod without a node', 'pods', object({}, { spec: { containers: [] }, status: {} }), {}, { isRemoved: true }],
    ['a namespace', 'namespaces', object({}, { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }), {}, { isRemoved: false }],
  ])('%s', (_what, plural, given, options, expected) => {
    const { next, isRemoved } = markDeleted(find(plural), given, options, now)
    expect(isRemoved).toBe(expected.isRemoved)
    expect(next.metadata.deletionTimestamp).toBe('at' in expected ? expected.at : '2026-01-01T00:00:00Z')
    if ('grace' in expected) expect(next.metadata.deletionGracePeriodSeconds).toBe(expected.grace)
    if ('finalizers' in expected) expect(next.metadata.finalizers).toEqual(expected.finalizers)
    expect(given.metadata.deletionTimestamp).toBeUndefined()
  })

  it('shares with the object what it leaves alone, and changes nothing of it', () => {
    const given = deepFreeze(object({ finalizers: ['x/y'], generation: 1 }, running)) as KubeObject & typeof running
    const { next } = markDeleted(find('pods'), given, { propagationPolicy: 'Foreground' }, now)
    expect(next).toMatchObject({ metadata: { name: 'a', generation: 2, finalizers: ['x/y', 'foregroundDeletion'] } })
    expect((next as typeof given).spec).toBe(given.spec)
    expect((next as typeof given).status).toBe(given.status)
  })

  it('is not put off by a second delete, but can be hastened', () => {
    const first = markDeleted(find('pods'), object({}, running), {}, now).next
    expect(markDeleted(find('pods'), first, { gracePeriodSeconds: 99 }, now + 5000).next.metadata).toMatchObject({ deletionTimestamp: '2026-01-01T00:00:30Z' })
    expect(markDeleted(find('pods'), first, { gracePeriodSeconds: 10 }, now + 5000).next.metadata).toMatchObject({ deletionTimestamp: '2026-01-01T00:00:10Z', deletionGracePeriodSeconds: 10 })
  })
})

describe('deleteOne()', () => {
  it('answers a Status with the uid of what is gone', async () => {
    await create(trial.request(configMaps, { metadata: { name: 'a' } }))
    const { uid } = trial.parts.access.get<KubeObject>('', 'configmaps', 'default', 'a')!.metadata
    expect(await deleteOne(trial.request(`${configMaps}/a`))).toMatchObject({ code: 200, value: { kind: 'Status', status: 'Success', details: { name: 'a', kind: 'configmaps', uid } } })
    await expect(deleteOne(trial.request(`${configMaps}/a`))).rejects.toMatchObject({ code: 404 })
  })

  it('of what cannot end is refused', async () => {
    await expect(deleteOne(trial.request('/api/v1/namespaces/default'))).rejects.toMatchObject({ code: 403 })
  })
})

describe('deleteCollection()', () => {
  it('deletes what a list with the same options shows, and answers that list', async () => {
    for (const [name, labels] of [['a', { k: '1' }], ['b', { k: '2' }], ['c', { k: '1' }]] as const) await create(trial.request(configMaps, { metadata: { name, labels } }))
    const result = (await deleteCollection(trial.request(`${configMaps}?labelSelector=k%3D1`))) as Extract<Result, { kind: 'list' }>
    expect(result.items.map((i) => i.object.metadata.name)).toEqual(['a', 'c'])
    expect(trial.parts.access.list<KubeObject>('', 'configmaps', 'default').map((o) => o.metadata.name)).toEqual(['b'])
  })
})
