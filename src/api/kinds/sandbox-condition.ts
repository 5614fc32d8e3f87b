import type { Pod, PodCondition } from '../generated/types.ts'

// The node that makes a pod's sandbox writes this condition. Monitor and controllers decide by its reason.
// docs/node.md has the table of reasons.

/** The condition that says whether a pod's volumes, sandbox and network are ready. */
export const sandboxConditionType = 'PodReadyToStartContainers'

/** The reasons of the condition while it is False and the node knows why. */
export const sandboxReasons = {
  configMapNotFound: 'ConfigMapNotFound',
  configMapKeyNotFound: 'ConfigMapKeyNotFound',
  secretNotFound: 'SecretNotFound',
  secretKeyNotFound: 'SecretKeyNotFound',
  claimNotFound: 'ClaimNotFound',
  claimNotBound: 'ClaimNotBound',
  volumeMountFailed: 'VolumeMountFailed',
  networkNotReady: 'NetworkNotReady',
  sandboxCreateFailed: 'SandboxCreateFailed',
  /** The runtime has the sandbox, but it is not ready any more. */
  sandboxChanged: 'SandboxChanged',
  /** The runtime does not have the sandbox any more. */
  sandboxLost: 'SandboxLost',
  /** The condition is Unknown: the node has lost its memory, and cannot say whether the pod had a sandbox before. */
  sandboxHistoryUnknown: 'SandboxHistoryUnknown',
} as const

export type SandboxReason = (typeof sandboxReasons)[keyof typeof sandboxReasons]

/** Why a pod has no ready sandbox, as the condition says it. */
export interface SandboxFailure {
  reason: SandboxReason
  /** The same at each attempt that fails in the same way: it contains no ids, counts or times. */
  message: string
}

const setOf = (...reasons: SandboxReason[]): ReadonlySet<string> => new Set(reasons)
const claimReasons = setOf('ClaimNotFound', 'ClaimNotBound', 'VolumeMountFailed')

export const sandboxConditionOf = ({ status }: Pick<Pod, 'status'>): PodCondition | undefined =>
  status?.conditions?.find(({ type }) => type === sandboxConditionType)

/** The message about a volume that cannot be mounted: it begins with the name that the pod gives the volume. */
export const mountFailure = (volume: string, why: string): string =>
  `MountVolume.SetUp failed for volume "${volume}" : ${why}`

/** Whether the pod waits for the claim that it calls by this volume name. `mountFailure` has written the message. */
export const blamesClaim = (condition: PodCondition | undefined, volume: string): boolean =>
  (condition?.status === 'False' || condition?.status === 'Unknown') &&
  claimReasons.has(condition.reason ?? '') &&
  condition.message?.startsWith(mountFailure(volume, '')) === true
