import { createHash } from 'node:crypto'
import { cidrContains, parseCidr, parseIp } from '../../api/validation/ip.ts'
import type { Route, Target } from '../routes/routes.ts'

export interface RulesetOptions {
  /** The name of the table, which has no other writers. */
  table: string
  /** The cluster IP ranges. Their traffic without a matching rule is rejected and never leaves the machine. */
  ranges: readonly string[]
  /**
   * False if replies between pods bypass these rules, as on a bridge without br_netfilter. Endpoints of cluster IPs then
   * see the address of the node instead of the client's.
   */
  keepsClientAddress: boolean
  /** The IPv4 networks of the machine's links, in CIDR notation. */
  networks(): readonly string[]
}

/** The input of `nft -f`, and the chains and sets that it uses besides the permanent ones. */
interface Ruleset {
  text: string
  names: ReadonlySet<string>
}

/** The mark of packets to be masqueraded with the address of the node. */
const masqueradeMark = '0x4000'

const baseChains = [
  'add chain ip T prerouting { type nat hook prerouting priority dstnat; }',
  'add chain ip T output { type nat hook output priority -100; }',
  'add chain ip T postrouting { type nat hook postrouting priority srcnat; }',
  'add chain ip T forward-check { type filter hook forward priority filter; }',
  'add chain ip T output-check { type filter hook output priority filter; }',
  'add chain ip T input-check { type filter hook input priority filter; }',
  'add chain ip T services',
  'add chain ip T node-ports',
]

const chain = (name: string): string => `chain ${name}`
const set = (name: string): string => `set ${name}`
const hash = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12)

/**
 * The rules that route Services to their endpoints, applied in one transaction. All rules are replaced, sets keep their
 * elements for `sessionAffinity`, and chains and sets of `before` that are no longer used are deleted.
 */
export function rulesetOf(
  routes: readonly Route[],
  options: RulesetOptions,
  before: ReadonlySet<string> = new Set(),
): Ruleset {
  const lines: string[] = []
  const declared = new Map<string, string>()
  const rule = (to: string, text: string) => lines.push(`add rule ip T ${to} ${text}`)
  rule('prerouting', 'jump services')
  rule('output', 'jump services')
  rule('postrouting', `meta mark & ${masqueradeMark} == ${masqueradeMark} masquerade`)
  for (const range of options.ranges)
    for (const check of ['forward-check', 'output-check']) rule(check, `ip daddr ${range} reject`)
  // With route_localnet, packets of other machines could reach programs that listen on the loopback interface only.
  rule('input-check', 'iifname != "lo" ip daddr 127.0.0.0/8 ct status & dnat != dnat drop')
  for (const route of [...routes].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)))
    addRoute(route, options, rule, declared)
  rule('services', 'ip daddr != 127.0.0.0/8 fib daddr type local jump node-ports')
  const names = new Set(declared.keys())
  const gone = [...before].filter((name) => !names.has(name))
  const text = [
    'add table ip T',
    ...baseChains,
    ...[...declared].map(([name, more]) => `add ${name.replace(' ', ' ip T ')}${more}`),
    'flush table ip T',
    ...lines,
    // Chains refer to sets and other chains, so unused ones are deleted after all rules were replaced.
    ...gone.map((name) => `delete ${name.replace(' ', ' ip T ')}`),
  ]
    .map((line) => line.replace(' ip T', ` ip ${options.table}`))
    .join('\n')
  return { text: `${text}\n`, names }
}

const keyOf = ({ namespace, name, portName, protocol }: Route): string => `${namespace}/${name}/${portName}/${protocol}`

function addRoute(
  route: Route,
  options: RulesetOptions,
  rule: (to: string, text: string) => void,
  declared: Map<string, string>,
): void {
  const { protocol, clusterIps, port, nodePort, internal, external, isExternalLocal } = route
  const l4 = protocol.toLowerCase()
  const clusterIp = clusterIps.find((ip) => !ip.includes(':'))
  const into = { rule, declared, options }
  const inner = balanced(route, internal, into)
  if (inner && clusterIp) {
    const mark = options.keepsClientAddress ? 'fib saddr type local ' : ''
    rule('services', `ip daddr ${clusterIp} ${l4} dport ${port} ${mark}meta mark set mark or ${masqueradeMark}`)
    rule('services', `ip daddr ${clusterIp} ${l4} dport ${port} goto ${inner}`)
  }
  const outer = nodePort === undefined ? undefined : balanced(route, external, into)
  if (outer) {
    // As kube-proxy: endpoints see the client's address, except for clients on the node itself.
    const mark = isExternalLocal ? 'fib saddr type local ' : ''
    rule('node-ports', `${l4} dport ${nodePort} ${mark}meta mark set mark or ${masqueradeMark}`)
    rule('node-ports', `${l4} dport ${nodePort} goto ${outer}`)
  }
}

interface Into {
  rule(to: string, text: string): void
  declared: Map<string, string>
  options: RulesetOptions
}

/** The chain that selects an endpoint; undefined without endpoints. */
function balanced(route: Route, targets: readonly Target[], into: Into): string | undefined {
  const endpoints = targets.filter(({ address }) => !address.includes(':'))
  if (endpoints.length === 0) return undefined
  const name = `service-${hash(keyOf(route), endpoints)}`
  if (into.declared.has(chain(name))) return name
  const chains = endpoints.map((target) => endpointChain(route, target, into))
  into.declared.set(chain(name), '')
  if (route.affinityMs !== undefined) for (const at of chains) into.rule(name, `ip saddr @${setOf(at)} goto ${at}`)
  const places = chains.map((at, i) => `${i} : goto ${at}`).join(', ')
  into.rule(name, `numgen random mod ${chains.length} vmap { ${places} }`)
  return name
}

const setOf = (endpoint: string): string => endpoint.replace('endpoint-', 'clients-')

function endpointChain(route: Route, { address, port }: Target, into: Into): string {
  const { protocol, affinityMs } = route
  const { rule, declared, options } = into
  const name = `endpoint-${hash(keyOf(route), affinityMs, address, port)}`
  if (declared.has(chain(name))) return name
  if (affinityMs !== undefined) {
    declared.set(
      set(setOf(name)),
      ` { type ipv4_addr; flags dynamic,timeout; timeout ${Math.ceil(affinityMs / 1000)}s; }`,
    )
  }
  declared.set(chain(name), '')
  // Masqueraded, because the reply would go directly to the client and not through the node.
  rule(name, `ip saddr ${directClientsOf(address, options)} meta mark set mark or ${masqueradeMark}`)
  if (affinityMs !== undefined) rule(name, `update @${setOf(name)} { ip saddr }`)
  rule(name, `meta l4proto ${protocol.toLowerCase()} dnat to ${address}:${port}`)
  return name
}

/** The clients to which an endpoint replies directly: itself, and its neighbours on a bridge without br_netfilter. */
function directClientsOf(address: string, { keepsClientAddress, networks }: RulesetOptions): string {
  const ip = parseIp(address)
  if (keepsClientAddress || !ip) return address
  return (
    networks().find((network) => {
      const cidr = parseCidr(network)
      return cidr && cidrContains(cidr, ip)
    }) ?? address
  )
}
