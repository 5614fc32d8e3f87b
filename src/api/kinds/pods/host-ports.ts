import type { Pod } from '../../generated/types.ts'

/** A host port of a container. */
export interface HostPort {
  ip: string
  protocol: string
  port: number
}

const anyAddress = '0.0.0.0'

/** The host ports of a pod. */
export function hostPortsOf({ spec }: Pod): readonly HostPort[] {
  const wanted: HostPort[] = []
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
    // Init containers count only if they keep running (sidecars).
    if (spec.initContainers?.includes(container) && container.restartPolicy !== 'Always') continue
    for (const { hostPort, hostIP, protocol } of container.ports ?? []) {
      if (hostPort) wanted.push({ ip: hostIP || anyAddress, protocol: protocol || 'TCP', port: hostPort })
    }
  }
  return wanted
}

const isConflict = (a: HostPort, b: HostPort): boolean =>
  a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === anyAddress || b.ip === anyAddress)

/** True if two pods cannot run on the same node. */
export const portsConflict = (some: readonly HostPort[], others: readonly HostPort[]): boolean =>
  some.some((port) => others.some((other) => isConflict(port, other)))
