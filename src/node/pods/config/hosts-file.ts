import { readFile } from 'node:fs/promises'
import type { Pod } from '../../../api/generated/types.ts'

const localNames = `127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
`

/**
 * The contents of a pod's /etc/hosts, in kubelet's format. `ofHost` is the node's file, for a pod in the host network.
 */
export function hostsFile(pod: Pod, hostname: string, ips: readonly string[], domain: string, ofHost: string): string {
  const { subdomain, hostNetwork, hostAliases = [] } = pod.spec
  const fullName = subdomain ? [`${hostname}.${subdomain}.${pod.metadata.namespace}.svc.${domain}`] : []
  const own = ips.map((ip) => `${[ip, ...fullName, hostname].join('\t')}\n`).join('')
  const names = hostNetwork
    ? `# Kubernetes-managed hosts file (host network).\n${ofHost}`
    : `# Kubernetes-managed hosts file.\n${localNames}${own}`
  const aliases = hostAliases.map(({ ip, hostnames = [] }) => `${[ip, ...hostnames].join('\t')}\n`).join('')
  return aliases === '' ? names : `${names}\n# Entries added by HostAliases.\n${aliases}`
}

/** The contents of the node's /etc/hosts; empty if the file does not exist. */
export const hostsOfNode = (): Promise<string> => readFile('/etc/hosts', 'utf8').catch(() => '')
