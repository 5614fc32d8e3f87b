import type { Pod } from '../../api/generated/types.ts'
import { type KindName, type WorkloadKind, kindNamed } from './kinds.ts'
import type { Condition, Workload } from './object.ts'
import { timestamp } from '../../api/object.ts'

/** The current time of the samples. */
export const sampleNow = Date.parse('2026-01-01T00:10:00Z')

/** The time this many seconds earlier. */
export const ago = (seconds: number): string => timestamp(sampleNow - seconds * 1000)

/** A condition with both of its times. */
export const condition = (type: string, status: string, reason = '', secondsAgo = 60, message = ''): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: ago(secondsAgo),
  lastUpdateTime: ago(secondsAgo),
})

/** A workload `web` whose newest spec was observed. */
export function sampleWorkload(
  kind: KindName,
  spec: Workload['spec'] = {},
  status: Workload['status'] = {},
  metadata: Partial<Workload['metadata']> = {},
): [WorkloadKind, Workload] {
  const object: Workload = {
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: 'uid-web',
      generation: 2,
      creationTimestamp: ago(3600),
      ...metadata,
    },
    spec: { replicas: 3, selector: { matchLabels: { app: 'web' } }, ...spec },
    status: { observedGeneration: 2, ...status },
  }
  return [kindNamed(kind), object]
}

/** The numbers of a status, equal unless specified. */
export const counts = (
  replicas: number,
  updatedReplicas = replicas,
  readyReplicas = updatedReplicas,
  availableReplicas = readyReplicas,
): NonNullable<Workload['status']> => ({
  replicas,
  updatedReplicas,
  readyReplicas,
  availableReplicas,
})

/** A pod of `web`, ready unless its status says otherwise. */
export const samplePod = (
  name: string,
  fields: { status?: Partial<Pod['status']>; spec?: Partial<Pod['spec']>; metadata?: Partial<Pod['metadata']> } = {},
): Pod => ({
  metadata: {
    name,
    namespace: 'default',
    uid: `uid-${name}`,
    labels: { app: 'web' },
    creationTimestamp: ago(60),
    ...fields.metadata,
  },
  spec: { containers: [{ name: 'main', image: 'app:1' }], nodeName: 'n-1', ...fields.spec } as NonNullable<Pod['spec']>,
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: ago(50) }],
    ...fields.status,
  } as NonNullable<Pod['status']>,
})
