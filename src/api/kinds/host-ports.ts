import type { Pod } from '../generated/types.ts'

/** A port of the node that a container wants for itself. */
export interface HostPort {
  ip: string
  protocol: string
  port: number
}

const anyAddress = '0.0.0.0'

/** The ports of the node that a pod wants. */
export function hostPortsOf({ spec }: Pod): readonly HostPort[] {
  const wanted: HostPort[] = []
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
    // Of init containers only those that keep running.
    if (spec.initContainers?.includes(container) && container.restartPolicy !== 'Always') continue
    for (const { hostPort, hostIP, protocol } of container.ports ?? []) {
      if (hostPort) wanted.push({ ip: hostIP || anyAddress, protocol: protocol || 'TCP', port: hostPort })
    }
  }
  return wanted
}

const isConflict = (a: HostPort, b: HostPort): boolean =>
  a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === anyAddress || b.ip === anyAddress)

/** Whether two pods cannot be on one node. */
export const portsConflict = (some: readonly HostPort[], others: readonly HostPort[]): boolean =>
  some.some((port) => others.some((other) => isConflict(port, other)))
