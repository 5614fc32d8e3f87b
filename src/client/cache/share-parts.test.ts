import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { PartSharing } from './share-parts.ts'

type Whole = KubeObject & { spec: { containers: { env: object[]; mounts: object[] }[] }; status: { conditions: object[]; ip?: string } }

const pod = (name: string, owner: string, change: Partial<Whole['status']> = {}): Whole => ({
  metadata: { name, labels: { app: 'web' }, ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: owner }] },
  spec: { containers: [{ env: [{ name: 'A', value: 'b' }], mounts: [{ name: `token-${name}` }] }] },
  status: { conditions: [{ type: 'Ready', status: 'True' }, { type: 'Initialized', status: 'True' }], ...change },
})

const clone = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

describe('PartSharing', () => {
  it('shares with a sibling what both have, however deep', () => {
    const sharing = new PartSharing()
    const [first, second] = [pod('a', '1'), pod('b', '1')]
    sharing.share(undefined, first)
    sharing.share(undefined, second)
    expect(second).toEqual(pod('b', '1'))
    expect(second.metadata.labels).toBe(first.metadata.labels)
    expect(second.spec.containers[0]!.env).toBe(first.spec.containers[0]!.env)
    expect(second.status).toBe(first.status)
    expect(second.spec.containers[0]!.mounts).not.toBe(first.spec.containers[0]!.mounts)
  })

  it('shares a new status with a sibling, and all else with the version before', () => {
    const sharing = new PartSharing()
    const [first, old, now] = [pod('a', '1', { ip: '1' }), pod('b', '1', { conditions: [] }), pod('b', '1', { ip: '2' })]
    for (const object of [old, first]) sharing.share(undefined, object)
    sharing.share(old, now)
    expect(now).toEqual(pod('b', '1', { ip: '2' }))
    expect([now.spec === old.spec, now.status.conditions === first.status.conditions]).toEqual([true, true])
  })

  it('leaves frozen objects and objects of nobody alone', () => {
    const sharing = new PartSharing()
    sharing.share(undefined, pod('a', '1'))
    const frozen = Object.freeze(pod('b', '1'))
    const { labels } = frozen.metadata
    sharing.share(undefined, frozen)
    expect(frozen.metadata.labels).toBe(labels)
    const free: KubeObject = { metadata: { name: 'x', labels: { app: 'web' } } }
    sharing.share(undefined, free)
    expect(free).toEqual({ metadata: { name: 'x', labels: { app: 'web' } } })
  })

  it('changes no value, whatever it shares', () => {
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, fc.constantFrom<unknown>(null, true, 0, 1, '', 'a'), fc.array(tie('value'), { maxLength: 3 }), fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 })),
    }))
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b'), value, value), { maxLength: 8 }), (rows) => {
        const sharing = new PartSharing()
        const known = new Map<string, KubeObject>()
        for (const [name, spec, status] of rows) {
          const object = { metadata: { name, ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'o', uid: '1' }] }, spec, status } as KubeObject
          const text = JSON.stringify(object)
          const before = [...known.values()].map((o) => JSON.stringify(o))
          const arrived = clone(object)
          sharing.share(known.get(name), arrived)
          expect(JSON.stringify(arrived)).toBe(text)
          expect([...known.values()].map((o) => JSON.stringify(o))).toEqual(before)
          known.set(name, arrived)
        }
      }),
      { numRuns: 1000 },
    )
  })
})
