import path from 'node:path'
import type { Pod } from '../../../api/generated/types.ts'
import { podNameLabel, podNamespaceLabel, podUidLabel } from '../../runtime/labels.ts'
import type { SandboxConfig } from '../../runtime/runtime.ts'
import { linuxSandbox } from './linux-security.ts'
import type { NodeContext } from '../node-context.ts'
import { podDns } from './pod-dns.ts'

/** The maximum length of a hostname on Linux. */
const longestHostname = 63

/** The sandbox configuration of a pod. */
export function sandboxConfig(context: NodeContext, pod: Pod, attempt: number): SandboxConfig {
  const { name = '', namespace = '', uid = '', labels = {}, annotations = {} } = pod.metadata
  const { spec } = pod
  const { servers, searches, options } = podDns(pod, context.dns)
  const ports = spec.containers.flatMap((c) => c.ports ?? []).filter((p) => p.hostPort)
  return {
    metadata: { name, namespace, uid, attempt },
    hostname: sandboxHostname(pod, context.dns.domain),
    logDirectory: path.join(context.volumes.podDirectory(uid), 'logs'),
    dns: { servers, searches, options },
    portMappings: ports.map((p) => ({
      protocol: (p.protocol ?? 'TCP') as 'TCP',
      containerPort: p.containerPort,
      hostPort: p.hostPort!,
      hostIp: p.hostIP ?? '',
    })),
    labels: { ...labels, [podNameLabel]: name, [podNamespaceLabel]: namespace, [podUidLabel]: uid },
    annotations,
    hostNetwork: spec.hostNetwork === true,
    ...(context.runtime.hasContainers ? { linux: linuxSandbox(pod) } : {}),
  }
}

/** The short hostname of a pod, without its domain. */
export const hostnameOf = ({ metadata, spec }: Pod): string =>
  spec.hostnameOverride ?? spec.hostname ?? (metadata.name ?? '').slice(0, longestHostname).replace(/[-.]+$/, '')

function sandboxHostname(pod: Pod, domain: string): string {
  const { spec, metadata } = pod
  const name = hostnameOf(pod)
  return spec.setHostnameAsFQDN && spec.subdomain
    ? `${name}.${spec.subdomain}.${metadata.namespace}.svc.${domain}`
    : name
}
