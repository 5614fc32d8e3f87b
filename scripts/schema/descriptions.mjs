// Descriptions for `kubectl explain` that replace or extend those of the models. For numbers, strings and microsecond
// times the models describe only the type. The texts about conditions name all types of a kind, including ours.
import { said } from './fields.mjs'

const available = 'as many pods as are asked for have been ready for minReadySeconds'
const rollout = {
  Progressing: said(
    'the last rollout makes progress or is complete; False when progressDeadlineSeconds have passed without',
    'progress, or pods cannot be created',
  ),
  Available: available,
  ReplicaFailure: 'a pod cannot be created or deleted',
}
const { Progressing: _, ...replicas } = rollout
const whilePaused = { Progressing: `${rollout.Progressing}; Unknown while it is paused` }

/** The condition types of each kind, and their meaning when they are True. */
const conditionsOf = {
  ReplicaSet: replicas,
  ReplicationController: replicas,
  Deployment: { ...rollout, ...whilePaused, Available: `${available}, but for maxUnavailable of them` },
  StatefulSet: rollout,
  DaemonSet: {
    ...rollout,
    Available: 'each node that should run a pod has one that has been ready for minReadySeconds',
  },
  CloneSet: {
    ...rollout,
    ...whilePaused,
    FailedScale: 'pods cannot be added or removed',
    FailedUpdate: 'a pod cannot be updated',
  },
  Job: {
    Suspended: 'the job is suspended',
    Complete: 'the job has succeeded',
    Failed: 'the job has failed',
    FailureTarget: 'the job is about to fail, and its pods are being ended',
    SuccessCriteriaMet: 'the job is about to complete, and its pods are being ended',
    Waiting: 'no pod runs and at least one is pending, or the job is suspended',
    Running: 'at least one pod runs',
  },
}

/** Adds a sentence to Kubernetes' text, before its link. */
const andAlso = (more) => (text) => text.replace(/(?=\s+More info: \S+$)|$/, ` ${more}`)

const conditions = Object.entries(conditionsOf).flatMap(([kind, types]) => {
  const meanings = Object.entries(types).map(([type, text]) => `${type}: ${text}.`)
  return [
    [`${kind}Status.conditions`, andAlso(`Their types are ${Object.keys(types).join(', ')}.`)],
    [`${kind}Condition.type`, said('Type of the condition.', ...meanings)],
  ]
})

const amount = 'a number or a percentage'
const port = 'a number from 1 to 65535, or the name of a port of a container'

/** By field: a text, or a function of Kubernetes' text. */
export const descriptions = {
  ...Object.fromEntries(conditions),
  'RollingUpdateStatefulSetStrategy.maxUnavailable': said(
    'How many pods may be unavailable during an update: a positive number, or a percentage of replicas up to 100%,',
    'which is rounded down to at least 1. Defaults to 1. A pod is unavailable while it is missing, terminating, or',
    'has not been ready for minReadySeconds. A value above the number of pods to update, which is replicas without',
    'partition, acts as that number. With podManagementPolicy OrderedReady an update begins when all pods are',
    'available, and goes on when they are so again. With Parallel as many pods as may be are updated at any time,',
    'and outdated pods that are not ready are replaced first, whatever this value is. While the feature gate',
    'MaxUnavailableStatefulSet is off, pods are updated one by one.',
  ),
  'RollingUpdateDeployment.maxUnavailable': said(
    `How many pods may be unavailable during an update: ${amount} of replicas, rounded down. Must not be 0 if`,
    'maxSurge is 0. Defaults to 25%.',
  ),
  'RollingUpdateDeployment.maxSurge': said(
    `How many pods there may be above replicas during an update: ${amount} of replicas, rounded up. Must not be 0 if`,
    'maxUnavailable is 0. Defaults to 25%.',
  ),
  'RollingUpdateDaemonSet.maxUnavailable': said(
    `On how many nodes the pod may be unavailable during an update: ${amount} of the nodes that should run one,`,
    'rounded up. Old pods that are unavailable are replaced whatever this value is. Must not be 0 if maxSurge is 0.',
    'Defaults to 1.',
  ),
  'RollingUpdateDaemonSet.maxSurge': said(
    `On how many nodes a new pod may run beside the old one during an update: ${amount} of the nodes that should run`,
    'one, rounded up. The old pod is deleted when the new one is available. Must be 0 if maxUnavailable is not.',
    'Defaults to 0.',
  ),
  'PodDisruptionBudgetSpec.minAvailable': said(
    `How many of the selected pods have to be available after an eviction: ${amount} of them, rounded up. Cannot be`,
    'set together with maxUnavailable.',
  ),
  'PodDisruptionBudgetSpec.maxUnavailable': said(
    `How many of the selected pods may be unavailable after an eviction: ${amount} of them, rounded up. Cannot be`,
    'set together with minAvailable.',
  ),
  'ServicePort.targetPort': `The port of the pods that the service leads to: ${port}. Defaults to the value of port.`,
  'NetworkPolicyPort.port': `The port that is allowed: ${port}. Without it, all ports of the protocol are.`,
  'HTTPGetAction.port': `The port to ask at: ${port}.`,
  'TCPSocketAction.port': `The port to connect to: ${port}.`,
  'CoreV1Event.eventTime': 'When the event was first observed.',
  'EventsV1Event.eventTime': 'When the event was first observed.',
  'CoreV1EventSeries.lastObservedTime': 'When an event of the series was last observed.',
  'EventsV1EventSeries.lastObservedTime': 'When an event of the series was last observed.',
  'LeaseSpec.acquireTime': 'When the holder acquired the lease.',
  'LeaseSpec.renewTime': 'When the holder last renewed the lease.',
  'V1beta1LeaseCandidateSpec.pingTime':
    'When the server last asked the candidate to renew; it is alive if it has renewed since.',
  'V1beta1LeaseCandidateSpec.renewTime': 'When the candidate last renewed.',
}
