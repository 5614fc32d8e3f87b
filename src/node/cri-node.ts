import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, realpathSync } from 'node:fs'
import { silentLogger } from '../base/logger.ts'
import { readResolvConf } from '../base/resolv-conf.ts'
import { NodeAgent, type NodeSurroundings } from './agent/node-agent.ts'
import type { NodeShape } from './agent/node-object.ts'
import { endPodsElsewhere, keepCriSettings, runtimeDirectory } from './end-pods.ts'
import { allOf, annotationFaults, noFaults } from './faults.ts'
import { hostAddress } from './machine/host-address.ts'
import { machineShape } from './machine/machine-shape.ts'
import { thisMachine } from './machine/this-machine.ts'
import { noDns } from './pods/config/pod-dns.ts'
import { networkProber } from './probes/network-prober.ts'
import { CriRuntime } from './runtimes/cri/index.ts'
import { localDisk } from './volumes/disk.ts'
import type { PrivatePaths } from './volumes/private-paths.ts'

export interface CriNodeOptions extends NodeSurroundings {
  name: string
  /** The directory of volumes and logs. One node at a time may use it. */
  directory: string
  /** The socket of the container runtime. */
  endpoint: string
  requestTimeoutMs?: number
  podPidsLimit?: number
  /** The port on which the agent serves logs, commands and ports. Without it none is served. */
  port?: number
  labels?: NodeShape['labels']
  /** Paths of this machine, besides the node's own directory, that volumes must not expose. */
  privatePaths?: PrivatePaths
}

const hashLength = 10

/**
 * Creates a node that runs pods on this machine with a container runtime. The agent adopts running pods when it starts.
 */
export async function criNode(options: CriNodeOptions): Promise<{ agent: NodeAgent; runtime: CriRuntime }> {
  const { name, clock, logger = silentLogger, endpoint, labels, requestTimeoutMs, podPidsLimit } = options
  mkdirSync(options.directory, { recursive: true, mode: 0o700 })
  chmodSync(options.directory, 0o700)
  const directory = realpathSync(options.directory)
  // Other nodes may run pods with the same runtime on this machine.
  const owner = `${name}.${createHash('sha256').update(directory).digest('hex').slice(0, hashLength)}`
  const settings = { endpoint, owner, cgroupTree: `coxswain-${owner.slice(-hashLength)}` }
  await endPodsElsewhere({ directory, clock, random: options.random, logger }, settings)
  const runtime = await CriRuntime.open({
    ...settings,
    clock,
    logger,
    directory: runtimeDirectory(directory),
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
    ...(podPidsLimit === undefined ? {} : { podPidsLimit }),
  })
  keepCriSettings(directory, settings)
  const { runtimeName, runtimeVersion } = await runtime.version()
  const shape = machineShape({
    name,
    directory,
    runtime: 'cri',
    containerRuntimeVersion: `${runtimeName}://${runtimeVersion}`,
    // The agent listens on the loopback interface, which pods cannot reach.
    addresses: [
      { type: 'InternalIP', address: hostAddress() },
      { type: 'Hostname', address: name },
      { type: 'InternalDNS', address: `${name}.localhost` },
    ],
    ...(labels ? { labels } : {}),
  })
  const agent = new NodeAgent({
    ...options,
    nodeName: name,
    shape: { ...shape, port: options.port ?? 0 },
    runtime,
    machine: thisMachine(directory, clock),
    prober: networkProber(runtime, clock),
    disk: localDisk,
    root: directory,
    privatePaths: {
      directories: [directory, ...(options.privatePaths?.directories ?? [])],
      volumes: options.privatePaths?.volumes ?? [],
    },
    faults: allOf(annotationFaults, options.faults ?? noFaults),
    dns: options.dns ?? { ...noDns, machine: () => readResolvConf() },
  })
  return { agent, runtime }
}
