import type { Resource } from '../../registry/resource.ts'
import { runtimeclasses } from './runtimeclasses.ts'

/** The kinds of node.k8s.io. */
export const nodeResources: Resource[] = [runtimeclasses]
