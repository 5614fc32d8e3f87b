// What Coxswain adds to Kubernetes' types, in the form of the generated schema: fields of types that exist, or whole types, which may
// say their `apiVersion` and `kind`. How a field vanishes follows from its type as for Kubernetes' own, unless it says its `zero`.
import { cloneSetTypes } from './clonesets.mjs'

const deadline = (what) => ({
  type: { kind: 'int32' },
  doc: `The maximum time in seconds for a ${what} to make progress before it is considered to be failed. The ${what} controller continues to process failed ${what}s, and a condition with a ProgressDeadlineExceeded reason is surfaced in the status. Must be greater than minReadySeconds. Defaults to 2147483647, which means no deadline.`,
})
const lastUpdateTime = { type: { kind: 'time' }, doc: 'The last time this condition was updated.' }

export const additions = {
  StatefulSetSpec: { fields: { progressDeadlineSeconds: deadline('stateful set') } },
  DaemonSetSpec: { fields: { progressDeadlineSeconds: deadline('daemon set') } },
  StatefulSetStatus: {
    fields: {
      desiredReplicas: { type: { kind: 'int32' }, doc: 'The number of replicas that this status was written for.' },
      expectedUpdatedReplicas: { type: { kind: 'int32' }, doc: 'The number of replicas that are to be of the update revision: those from the partition on.' },
    },
  },
  DaemonSetStatus: { fields: { updateRevision: { type: { kind: 'string' }, doc: 'The name of the revision that this status was written for.' } } },
  StatefulSetCondition: { fields: { lastUpdateTime } },
  DaemonSetCondition: { fields: { lastUpdateTime } },
  ...cloneSetTypes,
}
