import type { Deployment, ReplicaSet } from '../../api/generated/types.ts'
import { type Derived, derive } from './derive.ts'
import type { Observed } from './observe.ts'
import { desiredReplicasAnnotation, maxReplicasAnnotation, revisionAnnotation } from './replica-sets.ts'

export const nowMs = Date.parse('2026-01-01T00:10:00Z')

const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image, resources: {} }] },
})

/** A Deployment `web` of image `v9`, for tests. */
export const deployment = (spec: object = {}, over: { status?: object; metadata?: object } = {}): Deployment =>
  ({
    metadata: { name: 'web', namespace: 'default', uid: 'd', generation: 3, ...over.metadata },
    spec: {
      replicas: 10,
      selector: { matchLabels: { app: 'web' } },
      template: template('v9'),
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } },
      ...spec,
    },
    status: over.status ?? {},
  }) as Deployment

/** The size of a sample ReplicaSet, its status, and the size that it was scaled for. */
export interface SetWords {
  replicas?: number
  available?: number
  desired?: number
  max?: number
  status?: object
  annotations?: Record<string, string>
  metadata?: object
  spec?: object
}

/** A ReplicaSet of revision `number` with image `v<number>`. `v9` is the new one. Higher numbers are younger. */
export function replicaSet(
  number: number,
  { replicas = 0, available = 0, desired, max, status, annotations, metadata, spec }: SetWords = {},
): ReplicaSet {
  return {
    metadata: {
      name: `web-${number}`,
      namespace: 'default',
      uid: `s${number}`,
      generation: 2,
      creationTimestamp: `2026-01-01T00:00:0${number}Z`,
      annotations: {
        [revisionAnnotation]: String(number),
        ...(desired === undefined ? {} : { [desiredReplicasAnnotation]: String(desired) }),
        ...(max === undefined ? {} : { [maxReplicasAnnotation]: String(max) }),
        ...annotations,
      },
      ...metadata,
    },
    spec: { replicas, selector: { matchLabels: { app: 'web' } }, template: template(`v${number}`), ...spec },
    status: {
      replicas,
      readyReplicas: available,
      availableReplicas: available,
      terminatingReplicas: 0,
      observedGeneration: 2,
      ...status,
    },
  } as ReplicaSet
}

const none = { staying: undefined, going: undefined, changesAtMs: undefined }

/** An observation of a Deployment with these ReplicaSets. The one with image `v9` is the new one. */
export function observed(seen: Partial<Observed> & { sets?: readonly ReplicaSet[] } = {}): Derived {
  const { sets = [], ...rest } = seen
  return derive({
    deployment: deployment(),
    newSet: sets.find((set) => set.metadata.name === 'web-9'),
    oldSets: sets.filter((set) => set.metadata.name !== 'web-9'),
    adopt: [],
    release: [],
    oldPod: undefined,
    newCauses: none,
    oldCauses: none,
    nowMs,
    ...rest,
  })
}
