import type { Pod } from '../../api/generated/types.ts'
import type { Observed } from './observe.ts'

export const nowMs = Date.parse('2026-01-01T01:00:00Z')

const ago = (seconds: number) => new Date(nowMs - seconds * 1000).toISOString().replace('.000', '')

export interface PodTraits {
  labels?: Record<string, string>
  node?: string
  phase?: string
  /** For how many seconds. */
  ready?: number
  waiting?: string
}

/** A pod on a node, an hour old. */
export function pod(name: string, { labels = { app: 'web' }, node = 'n1', phase = 'Running', ready, waiting }: PodTraits = {}): Pod {
  return {
    metadata: { name, namespace: 'default', uid: `uid-${name}`, labels, creationTimestamp: ago(3600) },
    spec: { containers: [{ name: 'main' }], terminationGracePeriodSeconds: 30, ...(node ? { nodeName: node } : {}) },
    status: {
      phase,
      conditions: ready === undefined ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: ago(ready) }],
      ...(waiting ? { containerStatuses: [{ name: 'main', ready: false, restartCount: 0, state: { waiting: { reason: waiting } } }] } : {}),
    },
  } as unknown as Pod
}

/** A ReplicaSet `web` of three as it was seen; nothing is there unless `seen` says so. */
export const observed = (seen: Partial<Observed> & Partial<Observed['claimed']> = {}): Observed => {
  const { kept = [], adopt = [], release = [], ...rest } = seen
  const spec = { replicas: rest.wanted ?? 3, template: { metadata: { labels: { app: 'web' } } } } as unknown as Observed['owner']['spec']
  return {
    owner: { metadata: { name: 'web', namespace: 'default', uid: 'uid-web' }, spec },
    kind: 'ReplicaSet',
    wanted: 3,
    minReadySeconds: 0,
    claimed: { kept, adopt, release },
    terminating: [],
    onNodes: new Map(),
    nowMs,
    ...rest,
  }
}
