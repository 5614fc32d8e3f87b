import type { LifecycleHandler, Probe } from '../generated/types.ts'
import type { AnyContainer } from '../kinds/containers/visit-containers.ts'
import {
  type Check,
  type CheckPod,
  containersText,
  hasOwnUsers,
  namesOf,
  plural,
  quoted,
  settersText,
  sorted,
  unless,
} from './check.ts'

const hostNamespaces: CheckPod = ({ spec }) => {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field])
  if (shared.length === 0) return undefined
  return { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') }
}

const hostPathVolumes: CheckPod = ({ spec }) => {
  const names = (spec.volumes ?? []).filter((volume) => volume.hostPath).map(({ name }) => name)
  if (names.length === 0) return undefined
  return { reason: 'hostPath volumes', detail: `${plural('volume', 'volumes', names.length)} ${quoted(names)}` }
}

const portsOf = (container: AnyContainer): number[] =>
  (container.ports ?? []).flatMap(({ hostPort }) => (hostPort ? [hostPort] : []))

const hostPorts: CheckPod = (pod) => {
  const names = namesOf(pod, (container) => portsOf(container).length > 0)
  if (names.length === 0) return undefined
  const ports = sorted(pod.containers.flatMap(portsOf).map(String))
  const uses = `${plural('uses', 'use', names.length)} ${plural('hostPort', 'hostPorts', ports.length)} ${ports.join(', ')}`
  return { reason: 'hostPort', detail: `${containersText(names)} ${uses}` }
}

const handlerHosts = (handler: Probe | LifecycleHandler | undefined): string[] =>
  [handler?.httpGet?.host, handler?.tcpSocket?.host].filter((host): host is string => Boolean(host))

const hostsOf = ({ livenessProbe, readinessProbe, startupProbe, lifecycle }: AnyContainer): string[] =>
  [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop].flatMap(handlerHosts)

/** With a host set, the node would connect to any host that it can reach. */
const probedHosts: CheckPod = (pod) => {
  const names = sorted(namesOf(pod, (container) => hostsOf(container).length > 0))
  if (names.length === 0) return undefined
  const hosts = sorted(pod.containers.flatMap(hostsOf))
  const what = plural('probe or lifecycle host', 'probe or lifecycle hosts', hosts.length)
  return {
    reason: 'probe or lifecycle host',
    detail: `${containersText(names)} ${plural('uses', 'use', names.length)} ${what} ${quoted(hosts)}`,
  }
}

const privileged: CheckPod = (pod) => {
  const names = namesOf(pod, ({ securityContext }) => securityContext?.privileged === true)
  if (names.length === 0) return undefined
  return { reason: 'privileged', detail: `${containersText(names)} must not set securityContext.privileged=true` }
}

const isUnmasked = ({ securityContext }: AnyContainer) => (securityContext?.procMount ?? 'Default') !== 'Default'

const procMount: CheckPod = (pod) => {
  const names = namesOf(pod, isUnmasked)
  if (names.length === 0) return undefined
  const types = sorted(pod.containers.filter(isUnmasked).map(({ securityContext }) => securityContext!.procMount!))
  return {
    reason: 'procMount',
    detail: `${containersText(names)} must not set securityContext.procMount to ${quoted(types)}`,
  }
}

const hostProcess: CheckPod = (pod) => {
  const names = namesOf(pod, ({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true)
  const setters = settersText(pod.spec.securityContext?.windowsOptions?.hostProcess === true, names)
  if (setters === '') return undefined
  return { reason: 'hostProcess', detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true` }
}

/** Checks of access from a pod to its host. */
export const hostChecks: readonly Check[] = [
  { id: 'hostNamespaces', level: 'baseline', versions: [{ since: 0, run: hostNamespaces }] },
  { id: 'hostPathVolumes', level: 'baseline', versions: [{ since: 0, run: hostPathVolumes }] },
  { id: 'hostPorts', level: 'baseline', versions: [{ since: 0, run: hostPorts }] },
  { id: 'hostProbesAndHostLifecycle', level: 'baseline', versions: [{ since: 34, run: probedHosts }] },
  { id: 'privileged', level: 'baseline', versions: [{ since: 0, run: privileged }] },
  {
    id: 'procMount',
    level: 'baseline',
    versions: [
      { since: 0, run: procMount },
      { since: 35, run: unless(hasOwnUsers, procMount) },
    ],
  },
  {
    id: 'procMount_restricted',
    level: 'restricted',
    versions: [{ since: 35, run: procMount, overrides: 'procMount' }],
  },
  { id: 'windowsHostProcess', level: 'baseline', versions: [{ since: 0, run: hostProcess }] },
]
