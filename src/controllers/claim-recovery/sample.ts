import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts'
import { claimRecovery, claimRecoveryAfter, newClaims } from '../../api/kinds/claim-recovery.ts'
import { type SandboxFailure, type SandboxReason, sandboxConditionType } from '../../api/kinds/sandbox-condition.ts'
import { sampleClaim } from '../../api/kinds/sample-volumes.ts'
import { usedAnnotation } from './keeping.ts'
import type { Member, Observed } from './observe.ts'
import { recoveryOf } from './recovery.ts'
import { settingsOf } from './settings.ts'

export const nowMs = Date.parse('2026-01-01T01:00:00Z')
/** A time of that day, so many seconds before now. */
export const ago = (seconds: number): string => `${new Date(nowMs - seconds * 1000).toISOString().slice(0, 19)}Z`

interface PodOver {
  /** Since when, in seconds before now; undefined if the node has not said. */
  sandbox?: { status: 'True' | 'False'; since: number; failure?: SandboxFailure } | undefined
  ready?: { status: 'True' | 'False'; since: number }
  startedAt?: number
  metadata?: object
  status?: object
  spec?: object
}

/** A pod of the set `web` whose sandbox is not ready, ten minutes after its node took it. It was made together with its claim. */
export function samplePod(ordinal: number, over: PodOver = {}): Pod {
  const { sandbox = { status: 'False', since: 600 }, ready = { status: 'False', since: 600 }, startedAt = 600 } = over
  const name = `web-${ordinal}`
  const { status, since, failure } = sandbox
  const sandboxSaying = { type: sandboxConditionType, status, lastTransitionTime: ago(since), ...failure }
  return {
    metadata: {
      name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '9', generation: 1, creationTimestamp: ago(601),
      annotations: { [newClaims]: `uid-data-${name}` },
      ...over.metadata,
    },
    spec: { nodeName: 'n1', containers: [], volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `data-${name}` } }], ...over.spec },
    status: {
      phase: 'Pending',
      startTime: ago(startedAt),
      observedGeneration: 1,
      conditions: [
        ...('sandbox' in over && !over.sandbox ? [] : [sandboxSaying]),
        { type: 'Ready', status: ready.status, lastTransitionTime: ago(ready.since) },
      ],
      ...over.status,
    },
  } as unknown as Pod
}

/** The pod's claim, which has its volume. */
export const boundClaim = (ordinal: number, metadata: object = {}, phase = 'Bound'): PersistentVolumeClaim =>
  sampleClaim(`data-web-${ordinal}`, {
    metadata: { name: `data-web-${ordinal}`, namespace: 'default', uid: `uid-data-web-${ordinal}`, resourceVersion: '7', ...metadata },
    spec: { volumeName: `pv-${ordinal}` },
    status: { phase },
  })

export const member = (pod: Pod, claim = boundClaim(ordinalOf(pod)), others: readonly Pod[] = []): Member => ({
  pod,
  ordinal: ordinalOf(pod),
  claims: [{ claim, volume: 'data', isUsed: claim.metadata.annotations?.[usedAnnotation] !== undefined, users: [pod, ...others] }],
  isNodeLost: false,
})

const ordinalOf = ({ metadata }: Pod): number => Number(metadata.name!.split('-')[1])

type SetOver = Partial<Record<'metadata' | 'annotations' | 'spec' | 'status', object>>

/** A set of three that gives its pods five minutes. */
export function sampleSet(over: SetOver = {}): StatefulSet {
  const annotations = { [claimRecovery]: 'recreate', [claimRecoveryAfter]: '5m', ...over.annotations }
  return {
    metadata: { name: 'web', namespace: 'default', uid: 'set', annotations, ...over.metadata },
    spec: { replicas: 3, podManagementPolicy: 'Parallel', volumeClaimTemplates: [{ metadata: { name: 'data' } }], ...over.spec },
    status: { replicas: 3, ...over.status },
  } as unknown as StatefulSet
}

export const sampleSeen = (members: readonly Member[], set = sampleSet()): Observed => ({ set, settings: settingsOf(set), recovery: recoveryOf(set), members, nowMs })

/** A pod whose node says so of its sandbox, for the last ten minutes. */
export const failing = (ordinal: number, reason: SandboxReason, message: string): Pod =>
  samplePod(ordinal, { sandbox: { status: 'False', since: 600, failure: { reason, message } } })
