import { balancedAllocation } from './balanced-allocation/balanced-allocation.ts'
import { imageLocality } from './image-locality/image-locality.ts'
import { preferredPods } from './inter-pod-affinity/affinity-score.ts'
import { interPodAffinity } from './inter-pod-affinity/inter-pod-affinity.ts'
import { nodeAffinity, preferredNodes } from './node-affinity/node-affinity.ts'
import { nodePorts } from './node-ports/node-ports.ts'
import { leastAllocated, nodeResourcesFit } from './node-resources-fit/node-resources-fit.ts'
import { nodeUnschedulable } from './node-unschedulable/node-unschedulable.ts'
import { nodeVolumeLimits } from './node-volume-limits/node-volume-limits.ts'
import type { FilterPlugin, ScorePlugin } from './plugin.ts'
import { podTopologySpread } from './pod-topology-spread/pod-topology-spread.ts'
import { evenSpread } from './pod-topology-spread/spread-score.ts'
import { avoidedTaints, taintToleration } from './taint-toleration/taint-toleration.ts'
import { type VolumeBinder, volumeBinding } from './volume-binding/volume-binding.ts'
import { volumeRestrictions } from './volume-restrictions/volume-restrictions.ts'
import { volumeZone } from './volume-zone/volume-zone.ts'

/** The order of the filters. The first one that rejects a node determines the reason. */
export const filterPlugins = (binder: VolumeBinder): readonly FilterPlugin[] => [
  nodeUnschedulable,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  volumeRestrictions,
  nodeVolumeLimits,
  volumeBinding(binder),
  volumeZone,
  podTopologySpread,
  interPodAffinity,
]

export const scorePlugins: readonly ScorePlugin[] = [
  avoidedTaints,
  preferredNodes,
  leastAllocated,
  evenSpread,
  preferredPods,
  balancedAllocation,
  imageLocality,
]
