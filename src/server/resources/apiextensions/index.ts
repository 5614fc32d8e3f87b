import type { Resource } from '../../registry/resource.ts'
import { customresourcedefinitions } from './definitions.ts'

/** The kinds of apiextensions.k8s.io. */
export const apiextensionsResources: Resource[] = [customresourcedefinitions]
