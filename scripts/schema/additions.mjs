// Coxswain's additions to Kubernetes' types, in the form of the generated schema: fields of existing types, or new
// types, which may have an `apiVersion` and `kind`. The zero value of a field is handled by its type as in Kubernetes,
// unless it has `zero`.
import { cloneSetTypes, lastUpdate } from './clonesets.mjs'
import { said } from './fields.mjs'
import { reviewTypes } from './reviews.mjs'

const deadline = (more = []) => ({
  type: { kind: 'int32' },
  doc: said(
    'For how many seconds a rollout may make no progress before the condition Progressing turns False with the',
    'reason ProgressDeadlineExceeded. Progress is a pod of the new revision that is updated, ready or available beyond',
    'the most that there were before, or fewer outdated pods than there ever were in this rollout. The rollout goes on nevertheless, and the next progress turns the condition True again.',
    ...more,
    'Must be positive and greater than minReadySeconds. Defaults to 2147483647, which means no deadline.',
  ),
})
const lastUpdateTime = { type: { kind: 'time' }, doc: lastUpdate }
const beginsAnew = 'The time of progressDeadlineSeconds begins anew where it is another now.'

const count = (doc) => ({ type: { kind: 'int32' }, doc })
const progress = {
  type: { kind: 'struct', name: 'ProgressMark' },
  doc: said(
    'On the condition Progressing: the furthest that the rollout has come since its clock, which is lastUpdateTime,',
    'was started. Only what goes beyond it moves the clock.',
  ),
}

export const additions = {
  ProgressMark: {
    goVersion: 'v1',
    doc: 'ProgressMark is the furthest that a rollout has come since its clock was started.',
    fields: {
      revision: {
        type: { kind: 'string' },
        doc: 'The name of the revision, or of the ReplicaSet, that is rolled out.',
      },
      desiredReplicas: count('The number of replicas that are wanted.'),
      updatedReplicas: count('The largest number of pods of that revision.'),
      readyReplicas: count('The largest number of ready pods of that revision.'),
      availableReplicas: count('The largest number of available pods of that revision.'),
      oldReplicas: count('The smallest number of pods of other revisions.'),
    },
  },
  DeploymentCondition: { fields: { progress } },
  StatefulSetSpec: {
    fields: { progressDeadlineSeconds: deadline(['Time for which the partition holds it does not count.']) },
  },
  DaemonSetSpec: { fields: { progressDeadlineSeconds: deadline() } },
  StatefulSetStatus: {
    fields: {
      desiredReplicas: {
        type: { kind: 'int32' },
        doc: `The number of replicas that this status was written for. ${beginsAnew}`,
      },
      expectedUpdatedReplicas: {
        type: { kind: 'int32' },
        doc: said(
          'How many replicas were to be of the update revision when this status was written: those from the',
          'partition on.',
          beginsAnew,
        ),
      },
    },
  },
  DaemonSetStatus: {
    fields: {
      updateRevision: {
        type: { kind: 'string' },
        doc: `The name of the revision that this status was written for. ${beginsAnew}`,
      },
    },
  },
  StatefulSetCondition: { fields: { lastUpdateTime, progress } },
  DaemonSetCondition: { fields: { lastUpdateTime, progress } },
  ...cloneSetTypes,
  ...reviewTypes,
}
