import type { Resource } from '../../registry/resource.ts'
import { cronjobs } from './cronjobs.ts'
import { jobs } from './jobs.ts'

/** The kinds of batch/v1, in the order of discovery. */
export const batchResources: Resource[] = [cronjobs, jobs]
