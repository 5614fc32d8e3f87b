import { describe, expect, it } from 'vitest'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { configmaps } from '../../client/index.ts'
import { Graph } from './graph.ts'

type Way = 'orphan' | 'foregroundDeletion' | 'going'

const ref = (uid: string, blocks = true): OwnerReference => ({ apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid, blockOwnerDeletion: blocks })

const object = (uid: string, owners: OwnerReference[] = [], way?: Way): KubeObject => ({
  metadata: {
    name: uid,
    namespace: 'default',
    uid,
    ...(owners.length ? { ownerReferences: owners } : {}),
    ...(way ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    ...(way && way !== 'going' ? { finalizers: [way] } : {}),
  },
})

/** A graph of these; owners that are among them count as seen. */
function graphOf(...objects: KubeObject[]) {
  const seen = new Set(objects.map((o) => o.metadata.uid))
  const graph = new Graph((owner) => seen.has(owner.uid))
  const set = (o: KubeObject) => graph.set(configmaps, o)
  for (const o of objects) set(o)
  return { graph, set }
}

const nobody = { now: [], soon: [] }

describe('Graph has looked at', () => {
  it('nobody when all owners are seen', () => {
    const { set } = graphOf(object('owner'))
    expect(set(object('child', [ref('owner')]))).toEqual(nobody)
  })

  it('all dependents of one that is deleted after them, however many they are', () => {
    const children = Array.from({ length: 150_000 }, (_, i) => object(`c${i}`, [ref('owner')]))
    const { set } = graphOf(object('owner'), ...children.slice(0, 10))
    for (const child of children) set(child)
    expect(set(object('owner', [], 'foregroundDeletion')).now).toHaveLength(150_001)
  })

  it('soon, a dependent whose owner was not seen', () => {
    expect(graphOf().set(object('child', [ref('owner')]))).toEqual({ now: [], soon: ['child'] })
  })

  it('soon, a dependent that calls its owner by another name than before', () => {
    const { set } = graphOf(object('child', [ref('elsewhere')]))
    expect(set(object('child', [{ ...ref('elsewhere'), name: 'other' }]))).toEqual({ now: [], soon: ['child'] })
  })

  it('nobody when something else changes', () => {
    const { set } = graphOf(object('child', [ref('elsewhere')]))
    expect(set(object('child', [ref('elsewhere')]))).toEqual(nobody)
  })

  it('the dependents of what is gone', () => {
    const owner = object('owner')
    const { graph } = graphOf(owner, object('a', [ref('owner')]), object('b', [ref('owner'), ref('a')]))
    expect(graph.remove(owner).now).toEqual(['a', 'b'])
  })

  it('an owner in the foreground and its dependents', () => {
    const { set } = graphOf(object('owner'), object('a', [ref('owner')]))
    expect(set(object('owner', [], 'foregroundDeletion')).now).toEqual(['owner', 'a'])
    expect(set(object('owner', [], 'foregroundDeletion'))).toEqual(nobody)
  })

  it('an owner that orphans, and not its dependents', () => {
    const { set } = graphOf(object('owner'), object('a', [ref('owner')]))
    expect(set(object('owner', [], 'orphan')).now).toEqual(['owner'])
  })

  it('nobody when something merely waits to be gone', () => {
    const { set } = graphOf(object('owner'), object('a', [ref('owner')]))
    expect(set(object('owner', [], 'going'))).toEqual(nobody)
  })

  it('a dependent that comes when its owner is on its way out', () => {
    const { set } = graphOf(object('owner', [], 'foregroundDeletion'))
    expect(set(object('late', [ref('owner')])).now).toEqual(['late'])
  })

  it.each([
    ['is gone', undefined],
    ['is released', object('a')],
    ['no longer blocks', object('a', [ref('owner', false)])],
  ])('an owner in the foreground whose dependent %s', (_what, after) => {
    const before = object('a', [ref('owner')])
    const { graph, set } = graphOf(object('owner', [], 'foregroundDeletion'), before)
    expect((after ? set(after) : graph.remove(before)).now).toEqual(['owner'])
  })
})

describe('Graph keeps', () => {
  it('nothing of objects without relations', () => {
    expect(graphOf(object('a'), object('b', [], 'going')).graph.size).toBe(0)
  })

  it('nothing of what was once related', () => {
    const { graph, set } = graphOf(object('a', [ref('b')]), object('c', [], 'orphan'))
    expect(graph.size).toBe(2)
    set(object('a'))
    set(object('c', [], 'going'))
    expect([graph.size, graph.hasDependents('b')]).toEqual([0, false])
  })
})

describe('blocker() of an owner in the foreground', () => {
  const leaving = (uid: string, owners: OwnerReference[] = []) => object(uid, owners, 'foregroundDeletion')
  it.each([
    { name: 'no dependents', given: [leaving('a')], wanted: undefined },
    { name: 'one that blocks', given: [leaving('a'), object('b', [ref('a')])], wanted: 'b' },
    { name: 'one that does not block', given: [leaving('a'), object('b', [ref('a', false)])], wanted: undefined },
    { name: 'one that is going', given: [leaving('a'), object('b', [ref('a')], 'going')], wanted: 'b' },
    { name: 'one that has dependents of its own', given: [leaving('a'), leaving('b', [ref('a')]), object('c', [ref('b')])], wanted: 'b' },
    { name: 'itself', given: [leaving('a', [ref('a')])], wanted: undefined },
    { name: 'one in a circle that stays', given: [leaving('a', [ref('b')]), object('b', [ref('a')])], wanted: 'b' },
    { name: 'a circle of two', given: [leaving('a', [ref('b')]), leaving('b', [ref('a')])], wanted: undefined },
    { name: 'a circle of three', given: [leaving('a', [ref('c')]), leaving('b', [ref('a')]), leaving('c', [ref('b')])], wanted: undefined },
    { name: 'a circle next to another dependent', given: [leaving('a', [ref('b')]), leaving('b', [ref('a')]), object('d', [ref('a')])], wanted: 'd' },
    { name: 'a circle further down', given: [leaving('a'), leaving('b', [ref('a'), ref('c')]), leaving('c', [ref('b')])], wanted: 'b' },
  ])('with $name', ({ given, wanted }) => {
    expect(graphOf(...given).graph.blocker('a')?.object.metadata.uid).toBe(wanted)
  })
})
