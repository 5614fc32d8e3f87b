// What Coxswain adds to Kubernetes' types, in the form of the generated schema: fields of types that exist, or whole types, which may
// say their `apiVersion` and `kind`. How a field vanishes follows from its type as for Kubernetes' own, unless it says its `zero`.
import { cloneSetTypes } from './clonesets.mjs'

const deadline = (what) => ({
  type: { kind: 'int32' },
  doc: `The maximum time in seconds for a ${what} to make progress before it is considered to be failed. The ${what} controller continues to process failed ${what}s, and a condition with a ProgressDeadlineExceeded reason is surfaced in the status. Must be greater than minReadySeconds. Defaults to 2147483647, which means no deadline.`,
})
const lastUpdateTime = { type: { kind: 'time' }, doc: 'The last time this condition was updated.' }

const count = (doc) => ({ type: { kind: 'int32' }, doc })
const progress = {
  type: { kind: 'struct', name: 'ProgressMark' },
  doc: 'On the condition Progressing: the furthest that the rollout has come since its clock, which is lastUpdateTime, was started. Only what goes beyond it moves the clock.',
}

export const additions = {
  ProgressMark: {
    goVersion: 'v1',
    doc: 'ProgressMark is the furthest that a rollout has come since its clock was started.',
    fields: {
      revision: { type: { kind: 'string' }, doc: 'The name of the revision, or of the ReplicaSet, that is rolled out.' },
      desiredReplicas: count('The number of replicas that are wanted.'),
      updatedReplicas: count('The largest number of pods of that revision.'),
      readyReplicas: count('The largest number of ready pods of that revision.'),
      availableReplicas: count('The largest number of available pods of that revision.'),
      oldReplicas: count('The smallest number of pods of other revisions.'),
    },
  },
  DeploymentCondition: { fields: { progress } },
  StatefulSetSpec: { fields: { progressDeadlineSeconds: deadline('stateful set') } },
  DaemonSetSpec: { fields: { progressDeadlineSeconds: deadline('daemon set') } },
  StatefulSetStatus: {
    fields: {
      desiredReplicas: { type: { kind: 'int32' }, doc: 'The number of replicas that this status was written for.' },
      expectedUpdatedReplicas: { type: { kind: 'int32' }, doc: 'The number of replicas that are to be of the update revision: those from the partition on.' },
    },
  },
  DaemonSetStatus: { fields: { updateRevision: { type: { kind: 'string' }, doc: 'The name of the revision that this status was written for.' } } },
  StatefulSetCondition: { fields: { lastUpdateTime, progress } },
  DaemonSetCondition: { fields: { lastUpdateTime, progress } },
  ...cloneSetTypes,
}
