import { NodeAgent, type NodeSurroundings } from './agent/node-agent.ts'
import type { NodeShape } from './agent/node-object.ts'
import { allOf, annotationFaults, noFaults } from './faults.ts'
import { simulatedMachine } from './machine/simulated-machine.ts'
import { SimulatedRuntime, type SimulatedRuntimeOptions, simulatedProber } from './runtimes/simulated/index.ts'
import { noDisk } from './volumes/disk.ts'

export interface SimulatedNodeOptions extends NodeSurroundings {
  name: string
  /** The number of the node, from which its addresses are derived. A cluster may have up to 16,384 simulated nodes. */
  index: number
  delays?: SimulatedRuntimeOptions['delays']
  /** The runtime of an earlier agent with its pods. Default: a new runtime. */
  runtime?: SimulatedRuntime
  labels?: NodeShape['labels']
  capacity?: NodeShape['capacity']
  /** The port on which all nodes of the process serve logs, commands and ports. Without it none is served. */
  port?: number
}

/** The host name of a simulated node for its clients. Names below `localhost` resolve to this machine. */
export const doorNameOf = (name: string): string => `${name}.localhost`

const simulatedCapacity: NodeShape['capacity'] = {
  cpu: '32',
  memory: '256Gi',
  'ephemeral-storage': '100Gi',
  pods: '110',
}

/** Creates a node that simulates its pods. Annotations of pods inject faults. */
export function simulatedNode(options: SimulatedNodeOptions): NodeAgent {
  const { name, index, clock, random, capacity = simulatedCapacity } = options
  const [high, low] = [index >> 8, index & 255]
  const subnet = `10.${128 + high}.${low}`
  const shape: NodeShape = {
    labels: { 'coxswain.dev/runtime': 'simulated', ...options.labels },
    taints: [],
    capacity,
    allocatable: capacity,
    // The InternalIP is not served. All nodes of a process are served at the InternalDNS.
    addresses: [
      { type: 'InternalIP', address: `172.${16 + high}.${low}.1` },
      { type: 'Hostname', address: name },
      ...(options.port ? [{ type: 'InternalDNS', address: doorNameOf(name) }] : []),
    ],
    podCidr: `${subnet}.0/24`,
    nodeInfo: {
      architecture: 'amd64',
      bootID: random.uuid(),
      containerRuntimeVersion: 'simulated://1.0.0',
      kernelVersion: 'simulated',
      kubeProxyVersion: '',
      kubeletVersion: 'v1.36.0',
      machineID: name,
      operatingSystem: 'linux',
      osImage: 'Coxswain simulation',
      systemUUID: name,
    },
    port: options.port ?? 0,
  }
  const runtime =
    options.runtime ??
    new SimulatedRuntime({ clock, random, podSubnet: subnet, ...(options.delays ? { delays: options.delays } : {}) })
  const faults = allOf(annotationFaults, options.faults ?? noFaults)
  return new NodeAgent({
    ...options,
    nodeName: name,
    shape,
    runtime,
    machine: simulatedMachine(runtime, capacity),
    log: (container, wanted, reader) => runtime.log(container, wanted, reader),
    prober: simulatedProber(clock),
    disk: noDisk,
    root: '/var/lib/coxswain',
    faults,
  })
}
