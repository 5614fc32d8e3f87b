import { portsConflict } from '../../../api/kinds/pods/host-ports.ts'
import type { FilterPlugin, Rejection } from '../plugin.ts'

const name = 'NodePorts'
const rejection: Rejection = {
  plugin: name,
  reasons: ["node(s) didn't have free ports for the requested pod ports"],
  isFinal: false,
}

/** Rejects nodes whose host ports conflict with those of the pod. */
export const nodePorts: FilterPlugin = {
  name,
  filter: ({ hostPorts }) =>
    hostPorts.length === 0
      ? undefined
      : { check: (node) => (portsConflict(hostPorts, [...node.usedPorts()]) ? rejection : undefined) },
  hears: ['NodeAdd', 'AssignedPodDelete'],
  helps: (event, pod) =>
    event.kind === 'NodeAdd' ||
    (event.kind === 'AssignedPodDelete' && portsConflict(pod.hostPorts, event.pod.hostPorts)),
}
