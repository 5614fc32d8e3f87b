import type { Resource } from '../../registry/resource.ts'
import { priorityclasses } from './priorityclasses.ts'

/** The kinds of scheduling.k8s.io. */
export const schedulingResources: Resource[] = [priorityclasses]
