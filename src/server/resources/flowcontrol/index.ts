import type { Resource } from '../../registry/resource.ts'
import { flowschemas } from './flowschemas.ts'
import { prioritylevelconfigurations } from './prioritylevelconfigurations.ts'

/** The kinds of flowcontrol.apiserver.k8s.io. */
export const flowcontrolResources: Resource[] = [flowschemas, prioritylevelconfigurations]
