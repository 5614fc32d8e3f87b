import { describe, expect, it } from 'vitest'
import { forbiddenError } from '../../api/errors.ts'
import type { DaemonSetStatus, Pod } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import { RevisionTakenError, findCondition } from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import {
  type PodState, type SeenOver, type SetOver, sampleNode, sampleNodes, samplePod, sampleSeen, sampleSet,
} from './sample.ts'
import { changesInMs, status } from './status.ts'

const nothing: Outcome<Action> = { done: [], failed: [], skipped: [], wait: undefined }
const podsOf = (hash: string, ...states: PodState[]): Pod[] => states.map((state, i) => samplePod(`n${i + 1}`, hash, state))
const statusOf = (over: SeenOver, outcome: Partial<Outcome<Action>> = {}) => status(sampleSeen(over), { ...nothing, ...outcome })

/** desired, current, misscheduled, ready, available, unavailable, updated */
const numbers = (s: DaemonSetStatus) =>
  [s.desiredNumberScheduled, s.currentNumberScheduled, s.numberMisscheduled, s.numberReady, s.numberAvailable, s.numberUnavailable, s.updatedNumberScheduled].join(' ')

describe('numbers', () => {
  const tainted = sampleNode('n3', { taints: [{ key: 'k', effect: 'NoSchedule' }] })
  it.each<[string, SeenOver, string]>([
    ['no pods yet', {}, '3 0 0 0 0 3 0'],
    ['all ready', { pods: podsOf('a', 'ready', 'ready', 'ready') }, '3 3 0 3 3 0 3'],
    ['on their way', { pods: podsOf('a', 'ready', 'pending', 'waiting') }, '3 3 0 1 1 2 3'],
    ['ready, but not for long enough', { set: sampleSet({ spec: { minReadySeconds: 10 } }), pods: podsOf('a', 'ready', 'young', 'young') }, '3 3 0 3 1 2 3'],
    ['outdated', { set: sampleSet({ image: 'b' }), pods: [...podsOf('a', 'ready', 'ready'), samplePod('n3', 'b')] }, '3 3 0 3 3 0 1'],
    ['one is going: it counts until it is gone', { pods: podsOf('a', 'ready', 'ready', 'going') }, '3 3 0 3 3 0 3'],
    ['an old one and a new one on a node: the elder counts', { set: sampleSet({ image: 'b' }), nodes: sampleNodes(1), pods: [samplePod('n1', 'a'), samplePod('n1', 'b', 'waiting')] }, '1 1 0 1 1 0 0'],
    ['one may stay where it is not wanted', { nodes: [...sampleNodes(2), tainted], pods: podsOf('a', 'ready', 'ready', 'ready') }, '2 2 1 2 2 0 2'],
    ['its node is gone', { nodes: sampleNodes(2), pods: podsOf('a', 'ready', 'ready', 'ready') }, '2 2 0 2 2 0 2'],
    ['no nodes', { nodes: [] }, '0 0 0 0 0 0 0'],
  ])('%s', (_, over, expected) => {
    expect(numbers(statusOf(over))).toBe(expected)
  })

  it('what a step has made counts at once, and what it has deleted when nothing has to end', () => {
    const [bound, waiting] = [samplePod('n1', 'a'), samplePod('n2', 'a', 'waiting')]
    const made: Action = { kind: 'CreatePod', node: 'n3', hash: 'a' }
    const done: Action[] = [{ kind: 'DeletePod', pod: bound, node: 'n1' }, { kind: 'DeletePod', pod: waiting, node: 'n2' }, made]
    expect(numbers(statusOf({ pods: [bound, waiting] }, { done, answers: new Map([[made, samplePod('n3', 'a', 'waiting')]]) }))).toBe('3 2 0 1 1 2 2')
  })

  it('says which generation it is of, and leaves one that is being deleted as it was', () => {
    expect(statusOf({ set: sampleSet({ metadata: { generation: 7 } }) }).observedGeneration).toBe(7)
    const going = sampleSet({ metadata: { deletionTimestamp: 'x', generation: 8 }, status: { numberReady: 3 } })
    expect(statusOf({ set: going })).toBe(going.status)
  })

  it('counts collisions of names', () => {
    const failed = [{ action: { kind: 'CreateRevision', name: '', data: {}, hash: '', number: 1 } as Action, error: new RevisionTakenError('taken') }]
    expect(statusOf({}, { failed }).collisionCount).toBe(1)
    expect(statusOf({ set: sampleSet({ status: { collisionCount: 1 } }) }, { failed }).collisionCount).toBe(2)
    expect(statusOf({})).not.toHaveProperty('collisionCount')
  })
})

describe('conditions', () => {
  const told = (over: SeenOver, outcome: Partial<Outcome<Action>> = {}) => {
    const { conditions } = statusOf(over, outcome)
    return (type: string) => {
      const condition = findCondition(conditions, type)
      return condition && `${condition.status} ${condition.reason}: ${condition.message}`
    }
  }
  const earlier = (reason: string, over: object = {}) => ({
    conditions: [{ type: 'Progressing', status: 'True', reason, message: '', lastUpdateTime: '2026-01-01T00:00:00Z', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    updateRevision: 'd-a',
    desiredNumberScheduled: 3,
    currentNumberScheduled: 3,
    updatedNumberScheduled: 3,
    ...over,
  })
  const set = (reason: string, over: SetOver = {}) => sampleSet({ ...over, status: earlier(reason, over.status) })
  const newNode = { ...sampleNode('n3'), metadata: { ...sampleNode('n3').metadata, creationTimestamp: '2026-01-01T00:30:00Z' } }

  it.each<[string, SeenOver, string]>([
    ['of a new set', {}, 'True NewRevisionCreated: 0 of 3 nodes are at revision d-a, 0 are available.'],
    ['with the first pods', { pods: podsOf('a', 'pending') }, 'True NewRevisionCreated: 1 of 3 nodes is at revision d-a, 0 are available.'],
    ['complete', { set: set('ReplicasUpdated'), pods: podsOf('a', 'ready', 'ready', 'ready') }, 'True NewRevisionAvailable: Revision d-a has been rolled out to every node.'],
    ['complete without nodes', { nodes: [] }, 'True NewRevisionAvailable: Revision d-a has been rolled out to every node.'],
    ['complete, and later a pod is lost', { set: set('NewRevisionAvailable'), pods: podsOf('a', 'ready', 'unready', 'ready') }, 'True NewRevisionAvailable: '],
    ['a new revision', { set: set('NewRevisionAvailable', { image: 'b', status: { numberReady: 3, numberAvailable: 3 } }), pods: podsOf('a', 'ready', 'ready', 'ready') }, 'True NewRevisionCreated: 0 of 3 nodes are at revision d-b, 3 are available.'],
    ['a node that is wanted again', { set: set('NewRevisionAvailable', { status: { desiredNumberScheduled: 2, numberReady: 2, numberAvailable: 2 } }), pods: podsOf('a', 'ready', 'ready') }, 'True NewRevisionAvailable: '],
    ['a node that is lost', { set: set('NewRevisionAvailable', { status: { desiredNumberScheduled: 4 } }), pods: podsOf('a', 'ready', 'ready', 'unready') }, 'True NewRevisionAvailable: '],
    ['a new node', { nodes: [...sampleNodes(2), newNode], set: set('NewRevisionAvailable', { status: { desiredNumberScheduled: 2, numberReady: 2, numberAvailable: 2 } }), pods: podsOf('a', 'ready', 'ready') }, 'True ReplicasUpdated: 2 of 3 nodes are at revision d-a, 2 are available.'],
  ])('Progressing: %s', (_, over, expected) => {
    expect(told(over)('Progressing')).toBe(expected)
  })

  it('Progressing: not complete while a pod is where it is not wanted', () => {
    const nodes = [...sampleNodes(2), sampleNode('n3', { taints: [{ key: 'k', effect: 'NoSchedule' }] })]
    const tainted = set('ReplicasUpdated', { status: { desiredNumberScheduled: 2, numberReady: 3, numberAvailable: 3 } })
    expect(told({ set: tainted, nodes, pods: podsOf('a', 'ready', 'ready', 'ready') })('Progressing')).toBe(
      'True ReplicasUpdated: 2 of 2 nodes are at revision d-a, 2 are available. Pod n3-a is on node n3, which is not to run one.',
    )
  })

  it('Progressing: out of time, with what is waited for', () => {
    const late = set('ReplicasUpdated', { spec: { progressDeadlineSeconds: 60 }, status: { numberReady: 2, numberAvailable: 2 } })
    expect(told({ set: late, pods: podsOf('a', 'ready', 'ready', 'waiting') })('Progressing')).toBe('False ProgressDeadlineExceeded: No progress with revision d-a for 60 seconds. Pod n3-a has no node yet, since 2026-01-01T00:00:00Z.')
  })

  it('Progressing: with OnDelete no time passes while all run and some are old', () => {
    const spec = { updateStrategy: { type: 'OnDelete' }, progressDeadlineSeconds: 60 }
    const old = set('NewRevisionCreated', { image: 'b', spec, status: { updateRevision: 'd-b', updatedNumberScheduled: 0, numberReady: 3, numberAvailable: 3 } })
    expect(told({ set: old, pods: podsOf('a', 'ready', 'ready', 'ready') })('Progressing')).toMatch(/^True WaitingForPodDeletion: 0 of 3 nodes/)
    expect(told({ set: old, pods: podsOf('a', 'ready', 'ready', 'unready') })('Progressing')).toMatch(/^True WaitingForPodDeletion/)
    const broken = [...podsOf('a', 'ready', 'ready'), samplePod('n3', 'b', 'unready')]
    expect(told({ set: old, pods: broken })('Progressing')).toMatch(/^True ReplicasUpdated: 1 of 3/)
  })

  it('Available: in both states', () => {
    expect(told({ pods: podsOf('a', 'ready', 'ready', 'ready') })('Available')).toBe('True MinimumReplicasAvailable: 3 of 3 nodes have an available pod.')
    const waiting = { status: { containerStatuses: [{ name: 'c', state: { waiting: { reason: 'ErrImagePull', message: 'none' } } }] } }
    const pods = [...podsOf('a', 'ready', 'ready'), samplePod('n3', 'a', 'pending', waiting)]
    expect(told({ pods })('Available')).toBe(
      'False MinimumReplicasUnavailable: 2 of 3 nodes have an available pod. Pod n3-a cannot pull image "" for container "c": none, since 2026-01-01T00:00:00Z.',
    )
  })

  it('ReplicaFailure: with the words of who refused, also in Progressing; it goes again', () => {
    const error = forbiddenError({ group: '', resource: 'pods' }, 'd-x', 'exceeded quota: q')
    const failed = [{ action: { kind: 'CreatePod', node: 'n1', hash: 'a' } as Action, error }]
    const refused = told({}, { failed })
    expect(refused('ReplicaFailure')).toBe('True FailedCreate: pods "d-x" is forbidden: exceeded quota: q')
    expect(refused('Progressing')).toBe('True NewRevisionCreated: 0 of 3 nodes are at revision d-a, 0 are available. DaemonSet d cannot create a pod: pods "d-x" is forbidden: exceeded quota: q, since 2026-01-01T01:00:00Z.')
    expect(told({ set: sampleSet({ status: statusOf({}, { failed }) }) })('ReplicaFailure')).toBeUndefined()
  })

  it('with the gate off nothing is said, and what was said goes, but for what others said', () => {
    expect(statusOf({ hasConditions: false })).not.toHaveProperty('conditions')
    expect(statusOf({ hasConditions: false })).not.toHaveProperty('updateRevision')
    const said = set('ReplicasUpdated')
    const theirs = { type: 'Theirs', status: 'True', lastTransitionTime: null }
    expect(statusOf({ set: said, hasConditions: false })).not.toHaveProperty('conditions')
    expect(statusOf({ set: said, hasConditions: false })).not.toHaveProperty('updateRevision')
    expect(statusOf({ set: sampleSet({ status: { conditions: [...said.status.conditions!, theirs] } }), hasConditions: false }).conditions).toEqual([theirs])
  })

  it('change by themselves at the deadline', () => {
    const moving = earlier('ReplicasUpdated', { conditions: [{ type: 'Progressing', status: 'True', reason: 'ReplicasUpdated', lastUpdateTime: '2026-01-01T00:59:50Z', lastTransitionTime: null }] })
    const over = { set: sampleSet({ spec: { progressDeadlineSeconds: 60 }, status: moving }), pods: podsOf('a', 'pending') }
    expect(changesInMs(sampleSeen(over), statusOf(over))).toBe(50_000)
    expect(changesInMs(sampleSeen({ ...over, hasConditions: false }), statusOf({ ...over, hasConditions: false }))).toBeUndefined()
  })
})
