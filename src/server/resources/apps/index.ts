import type { Resource } from '../../registry/resource.ts'
import { controllerrevisions } from './controllerrevisions.ts'
import { daemonsets } from './daemonsets.ts'
import { deployments } from './deployments.ts'
import { replicasets } from './replicasets.ts'
import { statefulsets } from './statefulsets.ts'

/** The kinds of apps/v1, in the order of discovery. */
export const appsResources: Resource[] = [controllerrevisions, daemonsets, deployments, replicasets, statefulsets]
