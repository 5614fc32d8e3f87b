import type { Pod } from '../../api/generated/types.ts'
import { Roster } from '../kit/index.ts'
import { type Basis, type Member, type Tally, readMember, replicaReader } from './member.ts'
import type { Observed } from './observe.ts'
import { timestamp } from '../../api/object.ts'

export const nowMs = Date.parse('2026-01-01T01:00:00Z')

const ago = (seconds: number) => timestamp(nowMs - seconds * 1000)

export interface PodTraits {
  labels?: Record<string, string>
  node?: string
  phase?: string
  /** The number of seconds. */
  ready?: number
  waiting?: string
}

/** A pod on a node, an hour old. */
export function pod(
  name: string,
  { labels = { app: 'web' }, node = 'n1', phase = 'Running', ready, waiting }: PodTraits = {},
): Pod {
  return {
    metadata: { name, namespace: 'default', uid: `uid-${name}`, labels, creationTimestamp: ago(3600) },
    spec: { containers: [{ name: 'main' }], terminationGracePeriodSeconds: 30, ...(node ? { nodeName: node } : {}) },
    status: {
      phase,
      conditions: ready === undefined ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: ago(ready) }],
      ...(waiting
        ? {
            containerStatuses: [
              { name: 'main', ready: false, restartCount: 0, state: { waiting: { reason: waiting } } },
            ],
          }
        : {}),
    },
  } as unknown as Pod
}

export interface Scene {
  owner?: Observed['owner']
  kind?: string
  wanted?: number
  minReadySeconds?: number
  kept?: readonly Pod[]
  adopt?: readonly Pod[]
  release?: readonly Pod[]
  terminating?: readonly Pod[]
  countsTerminating?: boolean
  onNodes?: ReadonlyMap<string, number>
  nowMs?: number
}

/** An observation of a ReplicaSet `web` with three replicas. It contains only what the scene names. */
export function observed(scene: Scene = {}): Observed {
  const {
    kept = [],
    adopt = [],
    release = [],
    terminating = [],
    countsTerminating = true,
    wanted = 3,
    minReadySeconds = 0,
  } = scene
  const spec = {
    replicas: wanted,
    template: { metadata: { labels: { app: 'web' } } },
  } as unknown as Observed['owner']['spec']
  const basis: Basis = {
    matches: () => true,
    hasTemplateLabels: (labels) => labels?.['app'] === 'web',
    around: { minReadySeconds },
  }
  const going = terminating.map((p) =>
    p.metadata.deletionTimestamp ? p : { ...p, metadata: { ...p.metadata, deletionTimestamp: ago(0) } },
  )
  const all = new Map([...kept, ...going].map((p) => [p.metadata.name!, p]))
  const roster = new Roster<Pod, Member, Tally>({ all: () => all, get: (key) => all.get(key) }).refresh(
    replicaReader('', basis),
    scene.nowMs ?? nowMs,
  )
  return {
    owner: scene.owner ?? { metadata: { name: 'web', namespace: 'default', uid: 'uid-web' }, spec },
    kind: scene.kind ?? 'ReplicaSet',
    wanted,
    tally: roster.tally,
    adopt,
    release,
    read: (p) => readMember(basis, p, scene.nowMs ?? nowMs),
    kept: () => [...kept],
    onNodes: () => scene.onNodes ?? new Map<string, number>(),
    countsTerminating,
    changesAtMs: roster.changesAtMs,
    nowMs: scene.nowMs ?? nowMs,
  }
}
