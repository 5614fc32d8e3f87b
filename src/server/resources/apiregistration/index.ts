import type { Resource } from '../../registry/resource.ts'
import { apiservices } from './apiservices.ts'

/** The kinds of apiregistration.k8s.io. */
export const apiregistrationResources: Resource[] = [apiservices]
