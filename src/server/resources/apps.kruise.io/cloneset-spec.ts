import type {
  CloneSetScaleStrategy,
  CloneSetSpec,
  CloneSetUpdateStrategy,
  RollingUpdateCloneSetStrategy,
  V1beta1CloneSetSpec,
} from '../../../api/generated/types.ts'
import { Path } from '../../../api/validation/path.ts'

/** The pod update policies: recreate a pod, or change its images in place. */
export const podUpdatePolicies = ['ReCreate', 'InPlaceIfPossible', 'InPlaceOnly']

/** The part of a spec that is equal in both versions. */
export type SharedSpec = Omit<CloneSetSpec, 'scaleStrategy' | 'updateStrategy'> & {
  scaleStrategy: Pick<CloneSetScaleStrategy, 'podsToDelete' | 'maxUnavailable'>
}

/** The rolling update of a CloneSet, and its field paths, which differ between versions. */
export interface Rollout {
  policy: string | undefined
  policyPath: Path
  rolling: Omit<CloneSetUpdateStrategy, 'type'> | Omit<RollingUpdateCloneSetStrategy, 'podUpdatePolicy'>
  path: Path
}

const strategyPath = Path.of('spec', 'updateStrategy')
const rollingPath = strategyPath.child('rollingUpdate')

export const rolloutOf = ({ updateStrategy }: CloneSetSpec): Rollout => ({
  policy: updateStrategy.type,
  policyPath: strategyPath.child('type'),
  rolling: updateStrategy,
  path: strategyPath,
})

export const rolloutOfV1beta1 = ({ updateStrategy: { rollingUpdate = {} } }: V1beta1CloneSetSpec): Rollout => ({
  policy: rollingUpdate.podUpdatePolicy,
  policyPath: rollingPath.child('podUpdatePolicy'),
  rolling: rollingUpdate,
  path: rollingPath,
})
