import type { Pod } from '../../../api/generated/types.ts'
import type { ResolverConfig } from '../../../base/resolv-conf.ts'

/** The DNS settings of a node's pods. */
export interface NodeDns {
  /** The addresses of the cluster's DNS servers. Empty if the cluster has none. */
  servers: readonly string[]
  /** The cluster domain, for example `cluster.local`. */
  domain: string
  /** Reads the resolver configuration of the node. */
  machine(): ResolverConfig
}

/** The settings of nodes whose pods resolve no names. */
export const noDns: NodeDns = {
  servers: [],
  domain: 'cluster.local',
  machine: () => ({ servers: [], searches: [], options: [] }),
}

/** The messages of DNSConfigForming events for a pod. Empty on a node whose pods resolve no names. */
export const dnsProblems = ({ dns }: { dns: NodeDns }, pod: Pod): readonly string[] =>
  dns === noDns ? [] : podDns(pod, dns).problems

/** Kubernetes' limits for a resolver configuration. */
const most = { servers: 3, searches: 32, searchCharacters: 2048 }

/** The resolver configuration of a pod, by its dnsPolicy and dnsConfig, and the entries that exceeded the limits. */
export function podDns({ metadata, spec }: Pod, node: NodeDns): ResolverConfig & { problems: readonly string[] } {
  const { nameservers = [], searches = [], options = [] } = spec.dnsConfig ?? {}
  const asked = options.map(({ name, value }) => (value === undefined ? (name ?? '') : `${name}:${value}`))
  const { base, problems } = baseOf(
    spec.dnsPolicy ?? 'ClusterFirst',
    metadata.namespace ?? '',
    spec.hostNetwork === true,
    node,
  )
  const names = new Set(asked.map(nameOfOption))
  const merged = {
    servers: unique([...base.servers, ...nameservers]),
    searches: unique([...base.searches, ...searches]),
    options: unique([...base.options.filter((option) => !names.has(nameOfOption(option))), ...asked]),
  }
  return limited(merged, problems)
}

function baseOf(
  policy: string,
  namespace: string,
  isOnHost: boolean,
  { servers, domain, machine }: NodeDns,
): { base: ResolverConfig; problems: string[] } {
  if (policy === 'None') return { base: { servers: [], searches: [], options: [] }, problems: [] }
  const wantsCluster = policy === 'ClusterFirstWithHostNet' || (policy === 'ClusterFirst' && !isOnHost)
  if (!wantsCluster) return { base: machine(), problems: [] }
  if (servers.length === 0) {
    const problem = `kubelet does not have ClusterDNS IP configured and cannot create Pod using "${policy}" policy. Falling back to "Default" policy.`
    return { base: machine(), problems: [problem] }
  }
  const searches = [`${namespace}.svc.${domain}`, `svc.${domain}`, domain, ...machine().searches]
  return { base: { servers, searches, options: ['ndots:5'] }, problems: [] }
}

const nameOfOption = (option: string): string => option.split(':')[0]!
const unique = (list: readonly string[]): string[] => [...new Set(list)]

function limited(
  { servers, searches, options }: ResolverConfig,
  problems: readonly string[],
): ResolverConfig & { problems: readonly string[] } {
  const keptServers = servers.slice(0, most.servers)
  let keptSearches = searches.slice(0, most.searches)
  while (keptSearches.join(' ').length > most.searchCharacters) keptSearches = keptSearches.slice(0, -1)
  const lost = [
    ...(keptServers.length < servers.length
      ? [
          `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${keptServers.join(' ')}`,
        ]
      : []),
    ...(keptSearches.length < searches.length
      ? [
          `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${keptSearches.join(' ')}`,
        ]
      : []),
  ]
  return { servers: keptServers, searches: keptSearches, options, problems: [...problems, ...lost] }
}
