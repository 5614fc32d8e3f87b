import type { ClusterRole } from '../../../api/generated/types.ts'
import { aggregated, clusterRole, paths, read, readWrite, rule, write } from './policy-objects.ts'

const health = '/healthz /livez /readyz /version /version/'
const workloads =
  'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale'
const oldWorkloads =
  'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale'

/** The user-facing roles, from reading the server's version to full access. */
export const userRoles: readonly ClusterRole[] = [
  clusterRole('cluster-admin', [rule('*', '*', '*'), paths('*', '*')]),
  clusterRole('system:discovery', [paths('get', `${health} /api /api/* /apis /apis/* /openapi /openapi/*`)]),
  clusterRole('system:basic-user', [
    rule('create', 'authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews'),
    rule('create', 'authentication.k8s.io', 'selfsubjectreviews'),
  ]),
  clusterRole('system:public-info-viewer', [paths('get', health)]),
  clusterRole('system:monitoring', [
    paths('get', '/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*'),
  ]),
  clusterRole('system:service-account-issuer-discovery', [
    paths('get', '/.well-known/openid-configuration /openid/v1/jwks'),
  ]),
  aggregated('admin'),
  aggregated('edit', ['admin']),
  aggregated('view', ['edit']),
  clusterRole(
    'system:aggregate-to-admin',
    [
      rule('create', 'authorization.k8s.io', 'localsubjectaccessreviews'),
      rule(readWrite, 'rbac.authorization.k8s.io', 'roles rolebindings'),
    ],
    ['admin'],
  ),
  clusterRole(
    'system:aggregate-to-edit',
    [
      rule(read, 'core', 'pods/attach pods/proxy pods/exec pods/portforward secrets services/proxy'),
      rule('impersonate', 'core', 'serviceaccounts'),
      rule(write, 'core', 'pods pods/attach pods/proxy pods/exec pods/portforward'),
      rule('create', 'core', 'pods/eviction'),
      rule(
        write,
        'core',
        'replicationcontrollers replicationcontrollers/scale serviceaccounts services services/proxy persistentvolumeclaims configmaps secrets events',
      ),
      rule('create', 'core', 'serviceaccounts/token'),
      rule(write, 'apps', workloads),
      rule(write, 'autoscaling', 'horizontalpodautoscalers'),
      rule(write, 'batch', 'jobs cronjobs'),
      rule(write, 'extensions', oldWorkloads),
      rule(write, 'policy', 'poddisruptionbudgets'),
      rule(write, 'networking.k8s.io', 'networkpolicies ingresses'),
      rule(readWrite, 'coordination.k8s.io', 'leases'),
      rule(write, 'resource.k8s.io', 'resourceclaims resourceclaimtemplates'),
    ],
    ['edit'],
  ),
  clusterRole(
    'system:aggregate-to-view',
    [
      rule(
        read,
        'core',
        'pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status endpoints persistentvolumeclaims persistentvolumeclaims/status configmaps',
      ),
      rule(
        read,
        'core',
        'limitranges resourcequotas bindings events pods/status resourcequotas/status namespaces/status replicationcontrollers/status pods/log',
      ),
      // In a RoleBinding, this grants access to that namespace only.
      rule(read, 'core', 'namespaces'),
      rule(read, 'discovery.k8s.io', 'endpointslices'),
      rule(
        read,
        'apps',
        'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
      ),
      rule(read, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
      rule(read, 'batch', 'cronjobs cronjobs/status jobs jobs/status'),
      rule(
        read,
        'extensions',
        'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale',
      ),
      rule(read, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
      rule(read, 'networking.k8s.io', 'ingresses ingresses/status networkpolicies'),
      rule(read, 'resource.k8s.io', 'resourceclaims resourceclaims/status resourceclaimtemplates'),
    ],
    ['view'],
  ),
]
