import type { Resource } from '../../registry/resource.ts'
import { clonesetsV1beta1 } from './clonesets-v1beta1.ts'
import { clonesets } from './clonesets.ts'

/** The kinds of apps.kruise.io. */
export const kruiseResources: Resource[] = [clonesets, clonesetsV1beta1]
