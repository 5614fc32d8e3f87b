import { workloadStatusDefinition } from '../../controllers/index.ts'
import {
  type Manifest,
  type Process,
  type Settings,
  clusterBinding,
  clusterRole,
  deployment,
  disruptionBudget,
  namespaceObject,
  namespaceRole,
  networkPolicy,
  port,
  service,
  serviceAccount,
  serviceMonitor,
} from './objects.ts'
import { clusterRules, leaseRules } from './roles.ts'

export { namespaceObject, tcp, usualPorts } from './objects.ts'
export type { Manifest, Settings } from './objects.ts'

/** Components that can be installed on a cluster. */
export const componentNames = ['publisher', 'monitor', 'controllers'] as const
export type ComponentName = (typeof componentNames)[number]

/** Controllers that are taken over by default, with Kubernetes' roles for them. */
const takenOver = {
  'statefulset-controller': 'statefulset-controller',
  'daemonset-controller': 'daemon-set-controller',
} as const

const election = (component: string, namespace: string): string[] => [
  `--leader-elect-resource-namespace=${namespace}`,
  `--leader-elect-resource-name=coxswain-${component}`,
]

function processOf(component: ComponentName, { namespace }: Settings): Process {
  const names = Object.keys(takenOver).join()
  switch (component) {
    case 'publisher':
      return {
        args: ['publish', `--secure-port=${port}`, ...election(component, namespace)],
        memory: { request: '96Mi', limit: '384Mi' },
      }
    case 'controllers':
      return {
        args: [
          'controllers',
          `--secure-port=${port}`,
          `--controllers=${names}`,
          `--taken-over=${names}`,
          ...election(component, namespace),
        ],
        memory: { request: '96Mi', limit: '512Mi' },
      }
    case 'monitor':
      return {
        args: ['monitor', `--port=${port}`, '--data-dir=/data', '--user-objects=false', '--authorize-scrapes=true'],
        memory: { request: '96Mi', limit: '512Mi' },
        dataDir: '/data',
        isAlone: true,
      }
  }
}

/** Returns the CustomResourceDefinitions of the components. */
export const definitions = (): Manifest[] => [workloadStatusDefinition as unknown as Manifest]

/** Returns the objects of a component, except namespace, definitions and objects for the Prometheus operator. */
export function componentObjects(component: ComponentName, settings: Settings): Manifest[] {
  const { namespace } = settings
  const process = processOf(component, settings)
  const name = `coxswain-${component}`
  const elected = process.isAlone
    ? []
    : [
        ...namespaceRole(component, `${name}-election`, leaseRules(name), settings),
        disruptionBudget(component, settings),
      ]
  // The controllers are started as taken over, so they need no permission for the lease of the other manager.
  const kubernetesRoles =
    component !== 'controllers'
      ? []
      : Object.values(takenOver).map((role) =>
          clusterBinding(component, `${name}-${role}`, `system:controller:${role}`, namespace),
        )
  return [
    serviceAccount(component, settings),
    ...clusterRole(component, clusterRules[component]!, settings),
    ...kubernetesRoles,
    ...elected,
    networkPolicy(component, settings),
    service(component, settings),
    deployment(component, process, settings),
  ]
}

export const monitoringObjects = (component: ComponentName, settings: Settings): Manifest[] => [
  serviceMonitor(component, settings),
]

const isComponent = (part: string): part is ComponentName => (componentNames as readonly string[]).includes(part)

/**
 * Returns the objects that `coxswain manifests` prints: `namespace`, `definitions` and components, in an order in which
 * they can be applied.
 */
export function objectsOf(parts: readonly string[], settings: Settings, hasServiceMonitors: boolean): Manifest[] {
  return [
    ...(parts.includes('namespace') ? [namespaceObject(settings.namespace)] : []),
    ...(parts.includes('definitions') ? definitions() : []),
    ...parts
      .filter(isComponent)
      .flatMap((part) => [
        ...componentObjects(part, settings),
        ...(hasServiceMonitors ? monitoringObjects(part, settings) : []),
      ]),
  ]
}
