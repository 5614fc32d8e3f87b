import type { Rule } from './roles.ts'

/** An object in a manifest. */
export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string> }
  [field: string]: unknown
}

/** Settings shared by all objects of an installation. */
export interface Settings {
  namespace: string
  image: string
  /** Number of replicas of a component. */
  replicas: (component: string) => number | string
  /** The ports to which components may connect. Default: the usual ones of an API server and of its Service. */
  apiServerPorts?: readonly number[] | string
}

export const usualPorts: readonly number[] = [443, 6443]

const rbac = 'rbac.authorization.k8s.io'
export const port = 8443

const fullName = (component: string): string => `coxswain-${component}`

const labelsOf = (component: string): Record<string, string> => ({
  'app.kubernetes.io/name': 'coxswain',
  'app.kubernetes.io/component': component,
})

const metadata = (component: string, namespace?: string, name = fullName(component)) => ({
  name,
  ...(namespace ? { namespace } : {}),
  labels: labelsOf(component),
})

const account = (component: string, namespace: string) => [
  { kind: 'ServiceAccount', name: fullName(component), namespace },
]

export const namespaceObject = (namespace: string): Manifest => {
  const level = Object.fromEntries(
    ['enforce', 'audit', 'warn'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
  )
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace, labels: { 'app.kubernetes.io/name': 'coxswain', ...level } },
  }
}

export const serviceAccount = (component: string, { namespace }: Settings): Manifest => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: metadata(component, namespace),
})

/** Returns a ClusterRole for the component, and its binding. */
export const clusterRole = (component: string, rules: readonly Rule[], { namespace }: Settings): Manifest[] => [
  { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: metadata(component), rules },
  clusterBinding(component, fullName(component), fullName(component), namespace),
]

/** Binds a component to an existing ClusterRole. */
export const clusterBinding = (component: string, name: string, role: string, namespace: string): Manifest => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: metadata(component, undefined, name),
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
  subjects: account(component, namespace),
})

/** Returns a Role in the namespace of the component, and its binding. */
export const namespaceRole = (
  component: string,
  name: string,
  rules: readonly Rule[],
  { namespace }: Settings,
): Manifest[] => [
  { apiVersion: `${rbac}/v1`, kind: 'Role', metadata: metadata(component, namespace, name), rules },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: metadata(component, namespace, name),
    roleRef: { apiGroup: rbac, kind: 'Role', name },
    subjects: account(component, namespace),
  },
]

/** Security context of a component: an unprivileged user, a read-only file system, no privilege escalation. */
const confined = {
  pod: {
    runAsNonRoot: true,
    runAsUser: 65532,
    runAsGroup: 65532,
    fsGroup: 65532,
    seccompProfile: { type: 'RuntimeDefault' },
  },
  container: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
}

const probe = (path: string, more: object) => ({ httpGet: { path, port: 'https', scheme: 'HTTPS' }, ...more })

export interface Process {
  args: string[]
  memory: { request: string; limit: string }
  /** A writable directory. */
  dataDir?: string
  /** True if an old process must end before a new one starts. */
  isAlone?: boolean
}

export function deployment(
  component: string,
  { args, memory, dataDir, isAlone }: Process,
  { namespace, image, replicas }: Settings,
): Manifest {
  const labels = labelsOf(component)
  const container = {
    name: component,
    image,
    args: [...args, '--bind-address=$(POD_IP)'],
    env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
    ports: [{ name: 'https', containerPort: port }],
    startupProbe: probe('/livez', { periodSeconds: 1, failureThreshold: 60 }),
    livenessProbe: probe('/livez', { periodSeconds: 10, timeoutSeconds: 5 }),
    readinessProbe: probe('/readyz', { periodSeconds: 5, timeoutSeconds: 5 }),
    resources: { requests: { cpu: '50m', memory: memory.request }, limits: { memory: memory.limit } },
    securityContext: confined.container,
    ...(dataDir ? { volumeMounts: [{ name: 'data', mountPath: dataDir }] } : {}),
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadata(component, namespace),
    spec: {
      replicas: isAlone ? 1 : replicas(component),
      ...(isAlone ? { strategy: { type: 'Recreate' } } : {}),
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: fullName(component),
          securityContext: confined.pod,
          terminationGracePeriodSeconds: 10,
          containers: [container],
          ...(dataDir ? { volumes: [{ name: 'data', emptyDir: {} }] } : {}),
        },
      },
    },
  }
}

export const disruptionBudget = (component: string, { namespace }: Settings): Manifest => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: metadata(component, namespace),
  spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf(component) } },
})

export const tcp = (ports: readonly number[]) => ports.map((to) => ({ protocol: 'TCP', port: to }))

/** Allows incoming probes and scrapes, and outgoing requests to the API server. */
export const networkPolicy = (component: string, { namespace, apiServerPorts = usualPorts }: Settings): Manifest => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: metadata(component, namespace),
  spec: {
    podSelector: { matchLabels: labelsOf(component) },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ ports: tcp([port]) }],
    egress: [{ ports: typeof apiServerPorts === 'string' ? apiServerPorts : tcp(apiServerPorts) }],
  },
})

export const service = (component: string, { namespace }: Settings): Manifest => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadata(component, namespace),
  spec: { selector: labelsOf(component), ports: [{ name: 'https', port, targetPort: 'https' }] },
})

/** For the Prometheus operator. */
export const serviceMonitor = (component: string, { namespace }: Settings): Manifest => ({
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'ServiceMonitor',
  metadata: metadata(component, namespace),
  spec: {
    selector: { matchLabels: labelsOf(component) },
    endpoints: [
      {
        port: 'https',
        scheme: 'https',
        bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
        tlsConfig: { insecureSkipVerify: true },
      },
    ],
  },
})
