import { describe, expect, it } from 'vitest'
import type { Pod } from '../../../api/generated/types.ts'
import type { ObjectReader } from '../../objects/objects.ts'
import { checkPodsToDelete } from './pods-to-delete.ts'

const pods: Record<string, Pod['metadata']> = {
  own: { ownerReferences: [{ apiVersion: 'apps.kruise.io/v1alpha1', kind: 'CloneSet', name: 'x', uid: 'u', controller: true }] },
  others: { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid: 'v', controller: true }] },
  loose: {},
}
pods.leaving = { ...pods.own, deletionTimestamp: '2026-01-01T00:00:00Z' }

const reader = { get: (_group: string, _plural: string, _namespace: string, name: string) => pods[name] && { metadata: pods[name] } } as unknown as ObjectReader
const set = (podsToDelete?: string[]) => ({ metadata: { name: 'x', namespace: 'ns', uid: 'u' }, spec: { scaleStrategy: { podsToDelete } } }) as never

describe('checkPodsToDelete()', () => {
  it.each<[string, string[] | undefined, string[], string[]]>([
    ['no pods', undefined, [], []],
    ['a pod of its own', ['own'], [], []],
    ['a pod that is not there', ['gone'], [], ['Invalid value: "gone": find pod gone failed: pods "gone" not found']],
    ['a pod that ends already', ['leaving'], [], ['Invalid value: "leaving": find pod leaving already terminating']],
    ['a pod of somebody else', ['others'], [], ['Invalid value: "others": find pod others owner is not this CloneSet']],
    ['a pod of nobody', ['loose'], [], ['Invalid value: "loose": find pod loose owner is not this CloneSet']],
    ['a pod that has gone since it was named', ['gone', 'own'], ['gone'], []],
  ])('says of %s', (_, named, before, problems) => {
    expect(checkPodsToDelete(set(named), set(before), { reader }).errors.map((e) => e.message)).toEqual(problems)
  })
})
