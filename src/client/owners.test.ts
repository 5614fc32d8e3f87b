import { describe, expect, it, test } from 'vitest'
import type { KubeObject } from '../api/object.ts'
import { selectorFromMap } from '../api/selectors/label-selector.ts'
import { adoptionPatch, claim, controllerOf, isControlledBy, ownerReference, refersTo, releasePatch } from './owners.ts'
import { resourceType } from './resource-type.ts'

const set: KubeObject = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { namespace: 'default', name: 'web', uid: 'u1' } }
const pods = resourceType({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true })
const boats = resourceType({ group: 'example.com', version: 'v1', plural: 'boats', kind: 'Boat', namespaced: true })
const reference = ownerReference(set, { controller: true })
const other = { ...reference, uid: 'u2' }

const pod = (name: string, metadata: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  metadata: { namespace: 'default', name, uid: `uid-${name}`, resourceVersion: '7', labels: { app: 'web' }, ...metadata },
})

it('ownerReference() is what Kubernetes writes for a controller', () => {
  expect(reference).toEqual({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u1', controller: true, blockOwnerDeletion: true })
  expect(ownerReference(set)).toEqual({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u1' })
  expect(ownerReference(set, { controller: true, blockOwnerDeletion: false }).blockOwnerDeletion).toBe(false)
})

it('ownerReference() refuses an owner that is not stored', () => {
  expect(() => ownerReference({ ...set, metadata: { name: 'web' } })).toThrow('a uid')
})

it('controllerOf() is the owner that manages, whichever place it has', () => {
  const { controller: _, ...plain } = other
  expect(controllerOf(pod('a', { ownerReferences: [plain, reference] }))).toBe(reference)
  expect(controllerOf(pod('a', { ownerReferences: [plain] }))).toBeUndefined()
  expect(controllerOf(pod('a'))).toBeUndefined()
})

it('isControlledBy() tells owners of one name apart', () => {
  expect(isControlledBy(pod('a', { ownerReferences: [reference] }), set)).toBe(true)
  expect(isControlledBy(pod('a', { ownerReferences: [other] }), set)).toBe(false)
  expect(isControlledBy(pod('a'), { metadata: { name: 'web' } })).toBe(false)
})

test.each([
  ['apps/v1', 'ReplicaSet', true],
  ['apps/v1beta1', 'ReplicaSet', true],
  ['v1', 'ReplicaSet', false],
  ['apps/v1', 'Deployment', false],
])('refersTo() of %s %s is %s', (apiVersion, kind, is) => {
  expect(refersTo({ ...reference, apiVersion, kind }, { group: 'apps', kind: 'ReplicaSet' })).toBe(is)
})

describe('claim()', () => {
  const now = '2026-01-01T00:00:00Z'
  const deleted = { ...set, metadata: { ...set.metadata, deletionTimestamp: now } }
  test.each([
    ['its own that matches', set, pod('a', { ownerReferences: [reference] }), 'kept'],
    ['its own that matches and is being deleted', set, pod('a', { ownerReferences: [reference], deletionTimestamp: now }), 'kept'],
    ['its own that no longer matches', set, pod('a', { ownerReferences: [reference], labels: {} }), 'release'],
    ['an orphan that matches', set, pod('a'), 'adopt'],
    ['an orphan with an owner that does not manage it', set, pod('a', { ownerReferences: [{ ...other, controller: false }] }), 'adopt'],
    ['an orphan that does not match', set, pod('a', { labels: { app: 'db' } }), 'ignored'],
    ['an orphan that is being deleted', set, pod('a', { deletionTimestamp: now }), 'ignored'],
    ['an orphan in another namespace', set, pod('a', { namespace: 'kube-system' }), 'ignored'],
    ["another's that matches", set, pod('a', { ownerReferences: [other] }), 'ignored'],
    ['its own, of an owner that is being deleted', deleted, pod('a', { ownerReferences: [reference] }), 'kept'],
    ['its own that no longer matches, of such an owner', deleted, pod('a', { ownerReferences: [reference], labels: {} }), 'ignored'],
    ['an orphan, for such an owner', deleted, pod('a'), 'ignored'],
  ])('%s', (_, owner, object, fate) => {
    const result = claim(owner, selectorFromMap({ app: 'web' }), [object])
    const found = Object.entries(result).filter(([, objects]) => objects.length > 0)
    expect(found).toEqual(fate === 'ignored' ? [] : [[fate, [object]]])
  })
})

it('adoptionPatch() and releasePatch() touch one reference of a built-in kind', () => {
  const object = pod('a', { ownerReferences: [other] })
  expect(adoptionPatch(pods, object, reference)).toEqual({ type: 'strategic', patch: { metadata: { uid: 'uid-a', ownerReferences: [reference] } } })
  expect(releasePatch(pods, object, 'u2')).toEqual({
    type: 'strategic',
    patch: { metadata: { uid: 'uid-a', ownerReferences: [{ $patch: 'delete', uid: 'u2' }] } },
  })
})

it('adoptionPatch() and releasePatch() replace the list of a custom kind, in the state that was read', () => {
  const object = pod('a', { ownerReferences: [{ ...other, controller: false }] })
  expect(adoptionPatch(boats, object, reference)).toEqual({
    type: 'merge',
    patch: { metadata: { uid: 'uid-a', resourceVersion: '7', ownerReferences: [{ ...other, controller: false }, reference] } },
  })
  expect(releasePatch(boats, object, 'u2').patch).toEqual({ metadata: { uid: 'uid-a', resourceVersion: '7', ownerReferences: null } })
})

it('adoptionPatch() and releasePatch() put a finalizer on and take it off with the reference', () => {
  const object = pod('a', { ownerReferences: [], finalizers: ['other', 'mine'] })
  expect(adoptionPatch(pods, object, reference, 'mine').patch).toEqual({ metadata: { uid: 'uid-a', ownerReferences: [reference], finalizers: ['mine'] } })
  expect(releasePatch(pods, object, 'u2', 'mine').patch).toMatchObject({ metadata: { '$deleteFromPrimitiveList/finalizers': ['mine'] } })
  expect(adoptionPatch(boats, pod('a'), reference, 'mine').patch).toMatchObject({ metadata: { resourceVersion: '7', finalizers: ['mine'] } })
  expect(releasePatch(boats, object, 'u2', 'mine').patch).toMatchObject({ metadata: { resourceVersion: '7', finalizers: ['other'] } })
})
