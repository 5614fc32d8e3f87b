import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts'
import {
  awaitsMark,
  claimRecovery,
  claimRecoveryAfter,
  claimUsed,
  marksClaims,
  neverUsed,
  newClaims,
} from '../../api/kinds/workloads/claim-recovery.ts'
import {
  type SandboxFailure,
  type SandboxReason,
  sandboxConditionType,
} from '../../api/kinds/pods/sandbox-condition.ts'
import { sampleClaim, sampleVolume } from '../../api/kinds/volumes/sample-volumes.ts'
import { boundByController, provisionedBy } from '../../api/kinds/volumes/volume-binding.ts'
import type { Member, Observed } from './observe.ts'
import { recoveryOf, settingsOf, triesOf } from './settings.ts'
import { timestamp } from '../../api/object.ts'

export const nowMs = Date.parse('2026-01-01T01:00:00Z')
/** A timestamp some seconds before `nowMs`. */
export const ago = (seconds: number): string => timestamp(nowMs - seconds * 1000)

interface PodOver {
  /** The condition of the sandbox. `since` is in seconds before now. Undefined if the node has not reported it. */
  sandbox?: { status: 'True' | 'False'; since: number; failure?: SandboxFailure } | undefined
  ready?: { status: 'True' | 'False'; since: number }
  startedAt?: number
  metadata?: object
  status?: object
  spec?: object
}

/**
 * A pod of the set `web` whose sandbox is not ready, ten minutes after its node accepted it. It was created together
 * with its claim.
 */
export function samplePod(ordinal: number, over: PodOver = {}): Pod {
  const { sandbox = { status: 'False', since: 600 }, ready = { status: 'False', since: 600 }, startedAt = 600 } = over
  const name = `web-${ordinal}`
  const { status, since, failure } = sandbox
  const sandboxSaying = { type: sandboxConditionType, status, lastTransitionTime: ago(since), ...failure }
  return {
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      resourceVersion: '9',
      generation: 1,
      creationTimestamp: ago(601),
      annotations: { [newClaims]: `uid-data-${name}` },
      ...over.metadata,
    },
    spec: {
      nodeName: 'n1',
      containers: [],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `data-${name}` } }],
      ...over.spec,
    },
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

const claimAnnotations = { [claimUsed]: neverUsed, [boundByController]: 'yes' }

/** The metadata of an unused claim, with further annotations. */
export const claimSays = (more: Record<string, string | undefined>): { annotations: Record<string, string> } => ({
  annotations: { ...claimAnnotations, ...more } as Record<string, string>,
})

/** The pod's claim, which is bound and unused. */
export const boundClaim = (
  ordinal: number,
  metadata: object = {},
  phase = 'Bound',
  spec: object = {},
): PersistentVolumeClaim => {
  const name = `data-web-${ordinal}`
  const creationTimestamp = ago(601)
  return sampleClaim(name, {
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      resourceVersion: '7',
      creationTimestamp,
      annotations: claimAnnotations,
      ...metadata,
    },
    spec: { volumeName: `pvc-uid-${name}`, ...spec },
    status: { phase },
  })
}

/** The volume that was provisioned for that claim. */
export const boundVolume = (ordinal: number, metadata: object = {}, spec: object = {}): PersistentVolume => {
  const claim = `data-web-${ordinal}`
  return sampleVolume(`pvc-uid-${claim}`, {
    metadata: {
      name: `pvc-uid-${claim}`,
      uid: `uid-pv-${ordinal}`,
      creationTimestamp: ago(600),
      annotations: { [provisionedBy]: 'example.com/disks' },
      ...metadata,
    },
    spec: {
      persistentVolumeReclaimPolicy: 'Delete',
      hostPath: { path: `/volumes/${ordinal}` },
      claimRef: { kind: 'PersistentVolumeClaim', namespace: 'default', name: claim, uid: `uid-${claim}` },
      ...spec,
    },
    status: { phase: 'Bound' },
  })
}

/** The node of all pods, which marks claims. */
export const markingNode = (name = 'n1', annotations: Record<string, string> = { [marksClaims]: 'true' }): Node =>
  ({ metadata: { name, annotations }, spec: {}, status: {} }) as unknown as Node

const volumes = [0, 1, 2].map((ordinal) => boundVolume(ordinal))
export const around = { storage: () => ({ volumes, claims: [] }), nodes: () => [markingNode()], allowsRetained: false }

export const member = (pod: Pod, claim = boundClaim(ordinalOf(pod)), others: readonly Pod[] = []): Member => ({
  pod,
  ordinal: ordinalOf(pod),
  claims: [{ claim, volume: 'data', isUsed: !awaitsMark(claim), users: [pod, ...others] }],
  isNodeLost: false,
})

const ordinalOf = ({ metadata }: Pod): number => Number(metadata.name!.split('-')[1])

type SetOver = Partial<Record<'metadata' | 'annotations' | 'spec' | 'status', object>>

/** A set of three replicas with a recovery delay of five minutes. */
export function sampleSet(over: SetOver = {}): StatefulSet {
  const annotations = { [claimRecovery]: 'recreate', [claimRecoveryAfter]: '5m', ...over.annotations }
  return {
    metadata: { name: 'web', namespace: 'default', uid: 'set', annotations, ...over.metadata },
    spec: {
      replicas: 3,
      podManagementPolicy: 'Parallel',
      volumeClaimTemplates: [{ metadata: { name: 'data' } }],
      ...over.spec,
    },
    status: { replicas: 3, ...over.status },
  } as unknown as StatefulSet
}

export const sampleSeen = (members: readonly Member[], set = sampleSet()): Observed => ({
  set,
  settings: settingsOf(set),
  recovery: recoveryOf(set),
  tries: triesOf(set) ?? {},
  storage: around.storage,
  nodes: around.nodes,
  members,
  nowMs,
})

/** A pod whose node has reported this failure of its sandbox for ten minutes. */
export const failing = (ordinal: number, reason: SandboxReason, message: string): Pod =>
  samplePod(ordinal, { sandbox: { status: 'False', since: 600, failure: { reason, message } } })
