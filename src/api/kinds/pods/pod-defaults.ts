import type { Container, EphemeralContainer, LifecycleHandler, Pod, PodSpec, Probe } from '../../generated/types.ts'
import { roundResourcesUpToMilli } from '../quantities/resource-names.ts'
import { defaultPodLevelRequests } from './pod-level-resources.ts'
import { defaultFieldRef, defaultResourceFieldRef, defaultVolume } from '../volumes/volume-defaults.ts'
import { defaultPullPolicy } from '../containers/image-reference.ts'

type Handler = Pick<LifecycleHandler, 'httpGet'>

function defaultHandler(handler: Handler | undefined): void {
  const get = handler?.httpGet
  if (!get) return
  get.path ||= '/'
  get.scheme ||= 'HTTP'
}

function defaultProbe(probe: Probe | undefined): void {
  if (!probe) return
  probe.timeoutSeconds ||= 1
  probe.periodSeconds ||= 10
  probe.successThreshold ||= 1
  probe.failureThreshold ||= 3
  defaultHandler(probe)
  if (probe.grpc) probe.grpc.service ??= ''
}

function defaultContainer(container: Container | EphemeralContainer): void {
  if (!container.imagePullPolicy) container.imagePullPolicy = defaultPullPolicy(container.image ?? '')
  container.terminationMessagePath ||= '/dev/termination-log'
  container.terminationMessagePolicy ||= 'File'
  container.resources ??= {}
  roundResourcesUpToMilli(container.resources.limits)
  roundResourcesUpToMilli(container.resources.requests)
  if (container.ports) for (const port of container.ports) port.protocol ||= 'TCP'
  if (container.env) {
    for (const env of container.env) {
      if (!env.valueFrom) continue
      defaultFieldRef(env.valueFrom.fieldRef)
      defaultResourceFieldRef(env.valueFrom.resourceFieldRef)
      if (env.valueFrom.fileKeyRef) env.valueFrom.fileKeyRef.optional ??= false
    }
  }
  defaultProbe(container.livenessProbe)
  defaultProbe(container.readinessProbe)
  defaultProbe(container.startupProbe)
  if (container.lifecycle) {
    defaultHandler(container.lifecycle.postStart)
    defaultHandler(container.lifecycle.preStop)
  }
}

/** The deprecated name of the service account is kept in sync with the new one, and used if the new one is missing. */
function syncServiceAccount(spec: PodSpec): void {
  if (!spec.serviceAccountName && spec.serviceAccount) spec.serviceAccountName = spec.serviceAccount
  if (spec.serviceAccountName && spec.serviceAccount !== spec.serviceAccountName)
    spec.serviceAccount = spec.serviceAccountName
}

/** Applies the defaults of a pod spec, in a pod or template. */
export function defaultPodSpec(spec: PodSpec): void {
  spec.dnsPolicy ||= 'ClusterFirst'
  spec.restartPolicy ||= 'Always'
  spec.schedulerName ||= 'default-scheduler'
  spec.securityContext ??= {}
  spec.terminationGracePeriodSeconds ??= 30
  syncServiceAccount(spec)
  if (spec.containers) for (const container of spec.containers) defaultContainer(container)
  if (spec.initContainers) for (const container of spec.initContainers) defaultContainer(container)
  if (spec.ephemeralContainers) for (const container of spec.ephemeralContainers) defaultContainer(container)
  if (spec.volumes) for (const volume of spec.volumes) defaultVolume(volume)
  roundResourcesUpToMilli(spec.overhead)
  roundResourcesUpToMilli(spec.resources?.limits)
  roundResourcesUpToMilli(spec.resources?.requests)
}

function requestsFromLimits(container: Container): void {
  const limits = container.resources?.limits
  if (!limits) return
  const requests = (container.resources!.requests ??= {})
  for (const name in limits) requests[name] ??= limits[name]!
}

function hostPortsOfHostNetwork(containers: Container[] | undefined): void {
  for (const container of containers ?? [])
    for (const port of container.ports ?? []) port.hostPort ||= port.containerPort
}

/** A single address and the list of addresses are kept consistent: the single address wins. */
function syncPodIps(status: Pod['status']): void {
  if (!status) return
  if (status.podIP) {
    if (status.podIPs?.[0]?.ip !== status.podIP) status.podIPs = [{ ip: status.podIP }]
  } else if (status.podIPs?.length) {
    status.podIP = status.podIPs[0]!.ip
  }
}

/**
 * Applies the defaults of a pod: those of a pod spec, and those of pods only (requests from limits, host ports, service
 * links).
 */
export function defaultPod(pod: Pod): void {
  const spec = pod.spec
  defaultPodSpec(spec)
  for (const container of spec.containers ?? []) requestsFromLimits(container)
  for (const container of spec.initContainers ?? []) requestsFromLimits(container)
  defaultPodLevelRequests(spec)
  spec.enableServiceLinks ??= true
  if (spec.hostNetwork) {
    hostPortsOfHostNetwork(spec.containers)
    hostPortsOfHostNetwork(spec.initContainers)
  }
  syncPodIps(pod.status)
}
