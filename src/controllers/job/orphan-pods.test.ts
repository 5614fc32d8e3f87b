import { expect, it } from 'vitest'
import type { Job, Pod } from '../../api/generated/types.ts'
import { hasCaughtUp, isForsaken } from './orphan-pods.ts'
import { ago, conditions, sampleJob, samplePod } from './sample.ts'

const pod = samplePod('a')
const ownedBy = (change: object | undefined): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, ownerReferences: change ? [{ ...pod.metadata.ownerReferences![0]!, ...change }] : [] },
})
const over = { startTime: ago(9), conditions: conditions('Complete') }

it.each<[name: string, pod: Pod, job: Job | undefined, isIt: boolean]>([
  ['its Job counts it', pod, sampleJob(), false],
  ['its Job is gone', pod, undefined, true],
  ['another Job has the name', pod, sampleJob({}, {}, { uid: 'other' }), true],
  ['its Job is over', pod, sampleJob({}, over), true],
  ['its Job is over, and managed elsewhere', pod, sampleJob({ managedBy: 'example.com/x' }, over), false],
  ['nobody owns it', ownedBy(undefined), undefined, true],
  ["it is another kind's", ownedBy({ kind: 'Boat', apiVersion: 'example.com/v1' }), undefined, false],
  ['it is not tracked', samplePod('a', { isTracked: false }), undefined, false],
])('isForsaken(): %s', (_, object, job, isIt) => {
  expect(isForsaken(object, () => job)).toBe(isIt)
})

it.each<[name: string, pod: Pod, job: Job | undefined, isIt: boolean]>([
  ['its Job has changed since', pod, sampleJob({}, over, { resourceVersion: '8' }), false],
  ['its Job has not changed since', pod, sampleJob({}, over, { resourceVersion: '7' }), true],
  ['its Job is gone', pod, undefined, true],
  ['another Job of its name has changed since', pod, sampleJob({}, over, { resourceVersion: '8', uid: 'other' }), true],
  ['nobody owns it', ownedBy(undefined), undefined, true],
])('hasCaughtUp() of pods at version 7: %s', (_, object, job, isIt) => {
  expect(hasCaughtUp(object, job, '7')).toBe(isIt)
})
