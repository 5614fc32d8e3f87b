import type { Resource } from '../../resource.ts'
import { runtimeclasses } from './runtimeclasses.ts'

/** The kinds of node.k8s.io. */
export const nodeResources: Resource[] = [runtimeclasses]
