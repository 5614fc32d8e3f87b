import path from 'node:path'
import type { Pod } from '../../api/generated/types.ts'
import { podNameLabel, podNamespaceLabel, podUidLabel } from '../runtime/labels.ts'
import type { SandboxConfig } from '../runtime/runtime.ts'
import type { NodeContext } from './node-context.ts'

/** Names of the host are no longer than this. */
const longestHostname = 63

/** The sandbox of a pod. */
export function sandboxConfig(context: NodeContext, pod: Pod, attempt: number): SandboxConfig {
  const { name = '', namespace = '', uid = '', labels = {}, annotations = {} } = pod.metadata
  const { spec } = pod
  const ports = spec.containers.flatMap((c) => c.ports ?? []).filter((p) => p.hostPort)
  return {
    metadata: { name, namespace, uid, attempt },
    hostname: spec.hostname ?? name.slice(0, longestHostname).replace(/[-.]+$/, ''),
    logDirectory: path.join(context.volumes.podDirectory(uid), 'logs'),
    dns: dnsOf(context, pod),
    portMappings: ports.map((p) => ({
      protocol: (p.protocol ?? 'TCP') as 'TCP',
      containerPort: p.containerPort,
      hostPort: p.hostPort!,
      hostIp: p.hostIP ?? '',
    })),
    labels: { ...labels, [podNameLabel]: name, [podNamespaceLabel]: namespace, [podUidLabel]: uid },
    annotations,
    hostNetwork: spec.hostNetwork === true,
  }
}

function dnsOf({ dns }: NodeContext, { metadata, spec }: Pod): SandboxConfig['dns'] {
  const { nameservers = [], searches = [], options = [] } = spec.dnsConfig ?? {}
  const asked = options.map(({ name, value }) => (value === undefined ? (name ?? '') : `${name}:${value}`))
  const policy = spec.dnsPolicy ?? 'ClusterFirst'
  const isOfCluster = dns.servers.length > 0 && (policy === 'ClusterFirstWithHostNet' || (policy === 'ClusterFirst' && !spec.hostNetwork))
  if (!isOfCluster) return { servers: nameservers, searches, options: asked }
  const own = [`${metadata.namespace}.svc.${dns.domain}`, `svc.${dns.domain}`, dns.domain]
  return { servers: [...dns.servers, ...nameservers], searches: [...own, ...searches], options: ['ndots:5', ...asked] }
}
