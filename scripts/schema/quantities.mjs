import { named } from './fields.mjs'

/** Fields that hold resource quantities (for maps and lists: whose values do). */
export const quantities = named({
  CSIStorageCapacity: 'capacity maximumVolumeSize',
  ContainerStatus: 'allocatedResources',
  EmptyDirVolumeSource: 'sizeLimit',
  LimitRangeItem: 'default defaultRequest max maxLimitRequestRatio min',
  NodeAllocatableResourceClaimStatus: 'resources',
  NodeStatus: 'allocatable capacity',
  Overhead: 'podFixed',
  PersistentVolumeClaimStatus: 'allocatedResources capacity',
  PersistentVolumeSpec: 'capacity',
  PodSpec: 'overhead',
  PodStatus: 'allocatedResources',
  ResourceFieldSelector: 'divisor',
  ResourceQuotaSpec: 'hard',
  ResourceQuotaStatus: 'hard used',
  ResourceRequirements: 'limits requests',
  V2HPAScalingRules: 'tolerance',
  V2MetricTarget: 'averageValue value',
  V2MetricValueStatus: 'averageValue value',
  VolumeResourceRequirements: 'limits requests',
})
