import { NodeAgent, type NodeSurroundings } from './agent/node-agent.ts'
import type { NodeShape } from './agent/node-object.ts'
import { allOf, annotationFaults, noFaults } from './faults.ts'
import { simulatedMachine } from './machine/simulated-machine.ts'
import { SimulatedRuntime, type SimulatedRuntimeOptions, simulatedProber } from './runtimes/simulated/index.ts'
import { noDisk } from './volumes/disk.ts'

export interface SimulatedNodeOptions extends NodeSurroundings {
  name: string
  /** Tells the addresses of one node from those of another, of up to 16,384 in a cluster. */
  index: number
  delays?: SimulatedRuntimeOptions['delays']
  /** The runtime that an agent before has left running. Default: a runtime that remembers nothing. */
  runtime?: SimulatedRuntime
  labels?: NodeShape['labels']
  capacity?: NodeShape['capacity']
  /** Where the agent serves logs and the like, for all nodes of the process; nowhere if there is none. */
  port?: number
}

/** What a simulated node is called by whoever connects to it: names below `localhost` are this machine's own. */
export const doorNameOf = (name: string): string => `${name}.localhost`

const simulatedCapacity: NodeShape['capacity'] = {
  cpu: '32',
  memory: '256Gi',
  'ephemeral-storage': '100Gi',
  pods: '110',
}

/** A node that runs pods without running anything. Pods may ask for trouble in their annotations. */
export function simulatedNode(options: SimulatedNodeOptions): NodeAgent {
  const { name, index, clock, random, capacity = simulatedCapacity } = options
  const [high, low] = [index >> 8, index & 255]
  const subnet = `10.${128 + high}.${low}`
  const shape: NodeShape = {
    labels: { 'coxswain.dev/runtime': 'simulated', ...options.labels },
    taints: [],
    capacity,
    allocatable: capacity,
    // Nobody is at the first of them; under the last, all nodes of a process are found behind one door.
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
