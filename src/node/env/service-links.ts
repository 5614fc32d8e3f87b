import type { Service } from '../../api/generated/types.ts'

const upper = (name: string): string => name.toUpperCase().replaceAll('-', '_')

/** The variables of Services, in the form of Docker's links: `DB_SERVICE_HOST`, `DB_PORT_5432_TCP_ADDR`. */
export function serviceVariables(services: readonly Service[]): Map<string, string> {
  const variables = new Map<string, string>()
  for (const { metadata, spec } of services) {
    const ip = spec.clusterIP
    if (!ip || ip === 'None' || !spec.ports?.length) continue
    const name = upper(metadata.name ?? '')
    variables.set(`${name}_SERVICE_HOST`, ip)
    variables.set(`${name}_SERVICE_PORT`, String(spec.ports[0]!.port))
    for (const port of spec.ports)
      if (port.name) variables.set(`${name}_SERVICE_PORT_${upper(port.name)}`, String(port.port))
    for (const [i, port] of spec.ports.entries()) {
      const protocol = port.protocol ?? 'TCP'
      const host = ip.includes(':') ? `[${ip}]` : ip
      const url = `${protocol.toLowerCase()}://${host}:${port.port}`
      const prefix = `${name}_PORT_${port.port}_${protocol.toUpperCase()}`
      if (i === 0) variables.set(`${name}_PORT`, url)
      variables.set(prefix, url)
      variables.set(`${prefix}_PROTO`, protocol.toLowerCase())
      variables.set(`${prefix}_PORT`, String(port.port))
      variables.set(`${prefix}_ADDR`, ip)
    }
  }
  return variables
}

const isApi = ({ metadata }: Service): boolean => metadata.namespace === 'default' && metadata.name === 'kubernetes'

/**
 * Omits the Services whose addresses this node does not serve. The API server's Service has another address in
 * containers.
 */
export function servedServices(
  services: readonly Service[],
  serves: ((ip: string) => boolean) | undefined,
): readonly Service[] {
  return serves ? services.filter((service) => isApi(service) || serves(service.spec.clusterIP ?? '')) : services
}

/**
 * Replaces the address of the Service `kubernetes` with the real address of the API server, for nodes that route no
 * cluster IPs.
 */
export function withApiServerAt(services: readonly Service[], server: URL): Service[] {
  const port = Number(server.port || '443')
  const at = ({ spec }: Service): Service['spec'] => ({
    ...spec,
    clusterIP: server.hostname.replace(/^\[|\]$/g, ''),
    ports: [{ ...spec.ports?.[0], port } as NonNullable<Service['spec']['ports']>[number]],
  })
  return services.map((service) => (isApi(service) ? { ...service, spec: at(service) } : service))
}

/**
 * The Services whose variables a pod gets: those of its namespace if it enables service links, and always that of the
 * API server.
 */
export function linkedServices(services: readonly Service[], namespace: string, wantsLinks: boolean): Service[] {
  const own = services.filter((s) => s.metadata.namespace === namespace && wantsLinks)
  return own.some(isApi) ? own : [...services.filter(isApi), ...own]
}
