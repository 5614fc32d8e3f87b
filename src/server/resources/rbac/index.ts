import type { Resource } from '../../registry/resource.ts'
import { clusterrolebindings } from './clusterrolebindings.ts'
import { clusterroles } from './clusterroles.ts'
import { rolebindings } from './rolebindings.ts'
import { roles } from './roles.ts'

/** The kinds of rbac.authorization.k8s.io, in the order of discovery. */
export const rbacResources: Resource[] = [clusterrolebindings, clusterroles, rolebindings, roles]
