import type { Resource } from '../../registry/resource.ts'
import { horizontalpodautoscalersV1 } from './horizontalpodautoscalers-v1.ts'
import { horizontalpodautoscalers } from './horizontalpodautoscalers.ts'

/** The kinds of autoscaling/v2 and v1. */
export const autoscalingResources: Resource[] = [horizontalpodautoscalers, horizontalpodautoscalersV1]
