import { describe, expect, it } from 'vitest'
import { daemonSetKind } from './daemon-kind.ts'
import { deploymentKind, replicaSetKind } from './replica-kinds.ts'
import { cloneSetKind, statefulSetKind } from './set-kinds.ts'
import { type Moment, type Says, type Saying, type Story, judgeStory, node, pod, replicaSet, withLie } from './story.ts'
import type { WorkloadKind } from './workload-kind.ts'

type Three = readonly [number, number, number]

const enough: Saying = { words: 'True MinimumReplicasAvailable' }
const tooFew: Saying = { words: 'False MinimumReplicasUnavailable' }
const progress = (words: string, clock: number): Saying => ({ words, clock })

const begun = (clock: number) => progress('True NewRevisionCreated', clock)
const moving = (clock: number) => progress('True ReplicasUpdated', clock)
const complete = (clock: number) => progress('True NewRevisionAvailable', clock)
const exceeded = (clock: number) => progress('False ProgressDeadlineExceeded', clock)

/** A set's status: pods that are there, ready and available; the same of the revision that is rolled out. */
const says = ([replicas, ready, available]: Three, updated: Three, progressing: Saying, isEnough: Saying): Says => ({
  counts: {
    replicas, readyReplicas: ready, availableReplicas: available,
    updatedReplicas: updated[0], updatedReadyReplicas: updated[1], updatedAvailableReplicas: updated[2],
  },
  progressing,
  available: isEnough,
})

const none: Three = [0, 0, 0]
const nobody: Moment = { at: 0, says: says(none, none, begun(0), tooFew) }
const one: Three = [1, 1, 1]
const first = pod('web-0', { ready: 5 })
const oneOfTwo: Moment = { at: 5, pods: [first], says: says(one, one, moving(5), tooFew) }
const both = [first, pod('web-1', { ready: 9 })]
const two: Moment = { at: 9, pods: both, says: says([2, 2, 2], [2, 2, 2], complete(9), enough) }

const story = (kind: WorkloadKind, spec: object, ...moments: Moment[]): Story => ({ kind, spec, moments })
const cloneSet = (spec: object, ...moments: Moment[]) =>
  story(cloneSetKind, { updateStrategy: {}, ...spec }, ...moments)
const statefulSet = (spec: object, ...moments: Moment[]) => story(statefulSetKind, spec, ...moments)
const inTime = { progressDeadlineSeconds: 10 }

const notReady: Moment = { at: 7, pods: [pod('web-0')], says: says([1, 0, 0], [1, 0, 0], moving(5), tooFew) }
const again: Moment = { at: 8, pods: [pod('web-0', { ready: 8 })], says: says(one, one, moving(5), tooFew) }
const lost: Moment = { at: 30, pods: [first], says: says(one, one, complete(9), tooFew) }
const late: Moment = { at: 12, says: says(none, none, exceeded(0), tooFew) }
const raised: Moment = { at: 13, spec: { progressDeadlineSeconds: 60 }, says: says(none, none, moving(0), tooFew) }
const scaled: Moment = { at: 7, spec: { replicas: 3 }, pods: [first], says: says(one, one, moving(7), tooFew) }
const old = pod('web-1', { ready: 1, revision: '1' })
const resting = progress('Unknown RolloutPaused', 5)
const goingOn = progress('Unknown RolloutResumed', 60)
const toRest = { updateStrategy: { paused: true } }
const paused: Moment = { at: 6, spec: toRest, pods: [first], says: says(one, one, resting, tooFew) }
const resumed: Moment = { at: 60, pods: [first], says: says(one, one, goingOn, tooFew) }
const kept = { updateStrategy: { partition: 1 } }
const held = (clock: number) => progress('True PartitionReached', clock)
const mixed: Moment = { at: 5, pods: [first, old], says: says([2, 2, 2], one, held(5), enough) }
const notYetHeld: Moment = { at: 3, pods: [pod('web-0'), old], says: says([2, 1, 1], [1, 0, 0], begun(3), tooFew) }
const onDelete = { updateStrategy: { type: 'OnDelete' } }
const failed = progress('False FailedCreate', 0)
const refused: Moment = { at: 1, hasFailed: true, says: says(none, none, failed, tooFew) }
const isGoing = pod('web-1', { ready: 1, isGoing: true })
const going: Moment = { at: 5, pods: [first, isGoing], says: says([2, 2, 2], one, moving(5), enough) }

const recovered: Moment = { ...again, at: 14, says: says(one, one, moving(14), tooFew) }
const scaledLate: Moment = { ...scaled, at: 13, pods: [], says: says(none, none, moving(13), tooFew) }
const threeLater: Moment = { at: 3, says: says(none, none, begun(3), tooFew) }
const mixedAtFirst: Moment = { ...mixed, says: { ...mixed.says, progressing: begun(5) } }
const waiting = progress('True WaitingForPodDeletion', 5)
const forDeletion: Moment = { ...mixed, says: { ...mixed.says, progressing: waiting } }

const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data-web-0' } }]
const withClaim = { ...first, spec: { ...first.spec, volumes } }

const named = (message: string): Partial<Says> => ({ available: { ...tooFew, message } })

describe('the oracle finds, in what a set says,', () => {
  it.each<[lie: string, Story, Partial<Says>, found: string]>([
    ['a pod less than there is',
      cloneSet({}, nobody, oneOfTwo), { counts: { replicas: 0 } }, 'says that replicas is 0, and saw 1'],
    ['a ready pod too many',
      cloneSet({}, nobody, oneOfTwo, notReady), { counts: { readyReplicas: 1 } }, 'says that readyReplicas is 1'],
    ['an old pod that counts as updated',
      cloneSet(kept, notYetHeld, mixed), { counts: { updatedReplicas: 2 } }, 'updatedReplicas is 2, and saw 1'],
    ['a pod that is going, and counts as updated',
      statefulSet({}, nobody, going), { counts: { updatedReplicas: 2 } }, 'updatedReplicas is 2, and saw 1'],
    ['Available with one too few', cloneSet({}, nobody, oneOfTwo), { available: enough }, 'says Available True'],
    ['not Available with enough', cloneSet({}, nobody, oneOfTwo, two), { available: tooFew }, 'says Available False'],
    ['another time at which Available turned',
      cloneSet({}, nobody, oneOfTwo, two), { available: { ...enough, turned: 5 } }, 'says that Available turned'],
    ['another time at which Progressing turned',
      cloneSet({}, nobody, oneOfTwo), { progressing: { ...moving(5), turned: 5 } }, 'says that Progressing turned'],
    ['complete and not available at once', cloneSet({}, nobody, oneOfTwo), { progressing: complete(5) }, 'at once'],
    ['complete with an old pod', statefulSet({}, mixedAtFirst), { progressing: complete(5) }, 'is not complete'],
    ['moving when complete', cloneSet({}, nobody, oneOfTwo, two), { progressing: moving(9) }, 'and is complete'],
    ['a clock that does not move with progress',
      cloneSet({}, nobody, oneOfTwo), { progressing: moving(0) }, 'has made progress'],
    ['a clock that moves with a pod that is ready again',
      cloneSet({}, nobody, oneOfTwo, notReady, again), { progressing: moving(8) }, 'without progress'],
    ['a clock that moves with nothing',
      cloneSet({}, nobody, oneOfTwo, notReady), { progressing: moving(7) }, 'without progress'],
    ['a first look that was long ago', cloneSet({}, threeLater), { progressing: begun(0) }, 'has begun anew'],
    ['a rollout after completion',
      cloneSet({}, nobody, oneOfTwo, two, lost), { progressing: moving(30) }, 'nothing new has begun'],
    ['a clock that moves after completion',
      cloneSet({}, nobody, oneOfTwo, two, lost), { progressing: complete(30) }, 'nothing new has begun'],
    ['a deadline that passed after completion',
      cloneSet(inTime, nobody, oneOfTwo, two, lost), { progressing: exceeded(9) }, 'nothing new has begun'],
    ['moving past the deadline',
      cloneSet(inTime, nobody, late), { progressing: moving(0) }, 'after its deadline of 10 s'],
    ['a deadline that has not passed',
      cloneSet(inTime, nobody, oneOfTwo, notReady), { progressing: exceeded(5) }, 'before it is'],
    ['a deadline with a clock that was set',
      cloneSet(inTime, nobody, late), { progressing: exceeded(1) }, 'sets its clock'],
    ['a deadline that nobody has',
      cloneSet({}, nobody, oneOfTwo, notReady), { progressing: exceeded(5) }, 'and has none'],
    ['out of time as progress is made',
      cloneSet(inTime, nobody, late, recovered), { progressing: exceeded(0) }, 'has just made progress'],
    ['out of time though the deadline was raised',
      cloneSet(inTime, nobody, late, raised), { progressing: exceeded(0) }, 'before it is'],
    ['a scale that starts no clock',
      cloneSet({}, nobody, oneOfTwo, scaled), { progressing: moving(5) }, 'has begun anew'],
    ['a scale that is out of time at once',
      cloneSet(inTime, nobody, late, scaledLate), { progressing: exceeded(0) }, 'a rollout has just begun'],
    ['progress while paused', cloneSet({}, nobody, oneOfTwo, paused), { progressing: moving(5) }, 'and is paused'],
    ['paused, and it is not', cloneSet({}, nobody, oneOfTwo, notReady), { progressing: resting }, 'and is not paused'],
    ['paused time that counts',
      cloneSet(inTime, nobody, oneOfTwo, paused, resumed), { progressing: exceeded(5) }, 'a rollout has just begun'],
    ['held before the partition is reached',
      cloneSet(kept, notYetHeld), { progressing: held(3) }, 'has not come that far'],
    ['moving at the partition',
      cloneSet(kept, notYetHeld, mixed), { progressing: moving(5) }, 'as far as its partition lets it'],
    ['held without a partition', statefulSet({}, nobody, oneOfTwo), { progressing: held(5) }, 'has not come that far'],
    ['waiting for nobody to delete',
      statefulSet({}, nobody, oneOfTwo), { progressing: waiting }, 'nobody has to delete anything'],
    ['moving, and somebody has to delete old pods',
      statefulSet(onDelete, forDeletion), { progressing: moving(5) }, 'waits for somebody'],
    ['refused, and nothing has failed',
      cloneSet({}, nobody, { ...nobody, at: 1 }), { progressing: failed }, 'nothing has failed'],
    ['no word of progress', cloneSet({}, nobody, oneOfTwo), { progressing: undefined }, 'says nothing'],
    ['a reason that nobody knows',
      cloneSet({}, nobody, oneOfTwo), { progressing: progress('True Whatever', 5) }, 'which nobody knows'],
    ['a pod that is not there',
      cloneSet({}, nobody, oneOfTwo), named('Pod web-7 waits.'), 'names pod web-7, which is not there'],
    ['a pod that is not there, at the end of a sentence',
      cloneSet({}, nobody, oneOfTwo), named('It waits for pod web-7.'), 'names pod web-7'],
    ['a claim that is not there',
      cloneSet({}, nobody, oneOfTwo), named('Claim data-7 waits.'), 'names claim data-7, which is not there'],
    ['a node that is not there',
      cloneSet({}, nobody, oneOfTwo), named('Node n7 is full.'), 'names node n7, which is not there'],
    ['an available pod that is in the way',
      cloneSet({}, nobody, oneOfTwo), named('Pod web-0 waits.'), 'has pod web-0 in the way'],
  ])('%s', (_, honest, lie, found) => {
    expect(judgeStory(honest)).toEqual(honest.moments.map(() => undefined))
    expect(judgeStory(withLie(honest, lie)).at(-1)).toContain(found)
  })

  it.each([
    'Pod web-12 is being made.',
    'StatefulSet web waits: claim data-web-0 is to go before pod web-12 is made.',
  ])('nothing where a pod is not there yet: %s', (message) => {
    const saying: Says = { ...oneOfTwo.says, available: { ...tooFew, message } }
    const moment: Moment = { ...oneOfTwo, pods: [withClaim], says: saying }
    expect(judgeStory(cloneSet({}, nobody, moment))).toEqual([undefined, undefined])
  })

  it('nothing where a refusal is told of as it happens', () => {
    expect(judgeStory(cloneSet({}, nobody, refused))).toEqual([undefined, undefined])
  })
})

describe('the oracle finds, in what a ReplicaSet says,', () => {
  const counts = (replicas: number, readyReplicas: number, availableReplicas: number) =>
    ({ replicas, readyReplicas, availableReplicas })
  const young = [pod('web-0', { ready: 1 }), pod('web-1', { ready: 4 })]
  const moment: Moment = { at: 6, pods: young, says: { counts: counts(2, 2, 1), available: tooFew } }
  const honest = story(replicaSetKind, { minReadySeconds: 5 }, moment)

  it.each<[lie: string, Partial<Says>, found: string]>([
    ['a pod that is available too soon',
      { counts: counts(2, 2, 2), available: enough }, 'availableReplicas is 2, and saw 1'],
    ['none that is available', { counts: counts(2, 2, 0) }, 'availableReplicas is 0, and saw 1'],
    ['Available with one too few', { available: enough }, 'says Available True'],
  ])('%s', (_, lie, found) => {
    expect(judgeStory(honest)).toEqual([undefined])
    expect(judgeStory(withLie(honest, lie)).at(-1)).toContain(found)
  })
})

describe('the oracle finds, in what a Deployment says,', () => {
  const rolling = { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }, ...inTime }
  const counts = ([replicas, readyReplicas, availableReplicas]: Three, updatedReplicas: number) =>
    ({ replicas, readyReplicas, availableReplicas, updatedReplicas })
  const updated = (clock: number) => progress('True ReplicaSetUpdated', clock)
  const made = progress('True NewReplicaSetCreated', 0)
  const created: Moment = {
    at: 0, sets: [replicaSet('1', [2, 2, 2]), replicaSet('2', [0, 0, 0])],
    says: { counts: counts([2, 2, 2], 0), progressing: made, available: enough },
  }
  const surged: Moment = {
    at: 4, sets: [replicaSet('1', [2, 2, 2]), replicaSet('2', [1, 1, 1])],
    says: { counts: counts([3, 3, 3], 1), progressing: updated(4), available: enough },
  }
  const done: Moment = {
    at: 9, sets: [replicaSet('1', [0, 0, 0]), replicaSet('2', [2, 2, 2])],
    says: { counts: counts([2, 2, 2], 2), progressing: progress('True NewReplicaSetAvailable', 9), available: enough },
  }
  const silent: Moment = { ...created, says: { ...created.says, progressing: undefined } }
  const deployment = (spec: object, ...moments: Moment[]) => story(deploymentKind, { ...rolling, ...spec }, ...moments)
  const ofNobody = { progressing: { ...updated(4), message: 'ReplicaSet "web-7" is progressing.' } }
  const handedOver: Moment = {
    at: 6, spec: { replicas: 3 }, sets: [],
    says: { counts: counts([0, 0, 0], 0), progressing: updated(6), available: tooFew },
  }

  it.each<[lie: string, Story, Partial<Says>, found: string]>([
    ['old pods that count as updated',
      deployment({}, created, surged), { counts: { updatedReplicas: 3 } }, 'updatedReplicas is 3, and saw 1'],
    ['pods of one ReplicaSet only',
      deployment({}, created, surged), { counts: { replicas: 1 } }, 'replicas is 1, and saw 3'],
    ['complete with old pods',
      deployment({}, created, surged), { progressing: progress('True NewReplicaSetAvailable', 4) }, 'is not complete'],
    ['moving when complete', deployment({}, created, surged, done), { progressing: updated(9) }, 'and is complete'],
    ['a clock that does not move with progress',
      deployment({}, created, surged), { progressing: updated(0) }, 'has made progress'],
    ['a scale that starts no clock while its ReplicaSet changes hands',
      deployment({}, created, surged, handedOver), { progressing: updated(4) }, 'has begun anew'],
    ['progress without a deadline',
      deployment({ progressDeadlineSeconds: undefined }, silent), { progressing: made }, 'has no deadline'],
    ['a ReplicaSet that is not there', deployment({}, created, surged), ofNobody, 'names ReplicaSet web-7'],
  ])('%s', (_, honest, lie, found) => {
    expect(judgeStory(honest)).toEqual(honest.moments.map(() => undefined))
    expect(judgeStory(withLie(honest, lie)).at(-1)).toContain(found)
  })
})

describe('the oracle finds, in what a DaemonSet says,', () => {
  const counts = (desired: number, there: number, ready: number, updated: number) => ({
    desiredNumberScheduled: desired, currentNumberScheduled: there, numberMisscheduled: 0,
    numberReady: ready, numberAvailable: ready, updatedNumberScheduled: updated,
  })
  const on = (name: string, words: object = {}) => pod(`web-${name}`, { node: name, ...words })
  const [n1, n2] = [node('n1'), node('n2')]
  const beginning: Moment = {
    at: 0, nodes: [n1, n2],
    says: { counts: counts(2, 0, 0, 0), progressing: begun(0), available: tooFew },
  }
  const done: Moment = {
    at: 5, nodes: [n1, n2], pods: [on('n1', { ready: 4 }), on('n2', { ready: 5 })],
    says: { counts: counts(2, 2, 2, 2), progressing: complete(5), available: enough },
  }
  const oneLost: Moment = {
    at: 20, nodes: [n1], pods: [on('n1', { ready: 4 })],
    says: { counts: counts(1, 1, 1, 1), progressing: complete(5), available: enough },
  }
  const added: Moment = {
    at: 30, nodes: [n1, n2, node('n3', 29)], pods: done.pods!,
    says: { counts: counts(3, 2, 2, 2), progressing: moving(30), available: tooFew },
  }
  const daemonSet = (...moments: Moment[]) => story(daemonSetKind, {}, ...moments)

  it.each<[lie: string, Story, Partial<Says>, found: string]>([
    ['a node too few',
      daemonSet(beginning), { counts: { desiredNumberScheduled: 1 } }, 'desiredNumberScheduled is 1, and saw 2'],
    ['a pod too many',
      daemonSet(beginning, done), { counts: { currentNumberScheduled: 3 } }, 'currentNumberScheduled is 3, and saw 2'],
    ['a misplaced pod',
      daemonSet(beginning, done), { counts: { numberMisscheduled: 1 } }, 'numberMisscheduled is 1, and saw 0'],
    ['complete before any pod', daemonSet(beginning), { progressing: complete(0) }, 'at once'],
    ['a rollout because of a lost node',
      daemonSet(beginning, done, oneLost), { progressing: moving(20) }, 'nothing new has begun'],
    ['nothing new though a node was added',
      daemonSet(beginning, done, added), { progressing: complete(5) }, 'is not complete'],
  ])('%s', (_, honest, lie, found) => {
    expect(judgeStory(honest)).toEqual(honest.moments.map(() => undefined))
    expect(judgeStory(withLie(honest, lie)).at(-1)).toContain(found)
  })
})
