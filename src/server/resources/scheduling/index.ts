import type { Resource } from '../../resource.ts'
import { priorityclasses } from './priorityclasses.ts'

/** The kinds of scheduling.k8s.io. */
export const schedulingResources: Resource[] = [priorityclasses]
