import type { Pod, PodCondition } from '../../generated/types.ts'

// The node that creates a pod's sandbox writes this condition. The monitor and controllers use its reason. docs/node.md
// has a table of the reasons.

/** The condition for the readiness of a pod's volumes, sandbox and network. */
export const sandboxConditionType = 'PodReadyToStartContainers'

/** Reasons while the condition is False and the node knows the cause. */
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
  /** The runtime has the sandbox, but it is no longer ready. */
  sandboxChanged: 'SandboxChanged',
  /** The runtime no longer has the sandbox. */
  sandboxLost: 'SandboxLost',
  /** The condition is Unknown: the node lost its state, and does not know whether the pod had a sandbox before. */
  sandboxHistoryUnknown: 'SandboxHistoryUnknown',
} as const

export type SandboxReason = (typeof sandboxReasons)[keyof typeof sandboxReasons]

/** The reason why a pod has no ready sandbox, from its condition. */
export interface SandboxFailure {
  reason: SandboxReason
  /** Identical for repeated attempts with the same failure: it contains no ids, counts or times. */
  message: string
}

const setOf = (...reasons: SandboxReason[]): ReadonlySet<string> => new Set(reasons)
const claimReasons = setOf('ClaimNotFound', 'ClaimNotBound', 'VolumeMountFailed')

export const sandboxConditionOf = ({ status }: Pick<Pod, 'status'>): PodCondition | undefined =>
  status?.conditions?.find(({ type }) => type === sandboxConditionType)

/** The message for a volume that cannot be mounted. It begins with the volume's name in the pod. */
export const mountFailure = (volume: string, why: string): string =>
  `MountVolume.SetUp failed for volume "${volume}" : ${why}`

/** True if the pod waits for the claim of this volume, according to a message of `mountFailure`. */
export const blamesClaim = (condition: PodCondition | undefined, volume: string): boolean =>
  (condition?.status === 'False' || condition?.status === 'Unknown') &&
  claimReasons.has(condition.reason ?? '') &&
  condition.message?.startsWith(mountFailure(volume, '')) === true
