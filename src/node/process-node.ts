import { chmodSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { silentLogger } from '../base/logger.ts'
import { NodeAgent, type NodeSurroundings } from './agent/node-agent.ts'
import { type NodeShape, notIsolated } from './agent/node-object.ts'
import { endPodsElsewhere, runtimeDirectory } from './end-pods.ts'
import { allOf, annotationFaults, noFaults } from './faults.ts'
import { machineShape } from './machine/machine-shape.ts'
import { thisMachine } from './machine/this-machine.ts'
import { networkProber } from './probes/network-prober.ts'
import { PodUsers } from './runtime/pod-users.ts'
import {
  type CatalogueEntry,
  ProcessRuntime,
  type ProcessRuntimeOptions,
  type UnknownImages,
} from './runtimes/process/index.ts'
import { localDisk } from './volumes/disk.ts'
import type { PrivatePaths } from './volumes/private-paths.ts'

export interface ProcessNodeOptions extends NodeSurroundings {
  name: string
  /** The directory of volumes, logs and the runtime's state. One node at a time may use it. */
  directory: string
  catalogue?: readonly CatalogueEntry[]
  /** The treatment of images that are not in the catalogue. */
  unknownImages?: UnknownImages
  shimProgram?: string
  /** Default: the best isolation that works on this machine. */
  view?: ProcessRuntimeOptions['view']
  /** The port on which the agent serves logs, commands and ports. Without it none is served. */
  port?: number
  labels?: NodeShape['labels']
  /** The address of the API server for containers, on nodes that route no cluster IPs. */
  apiServer?: URL
  /** Paths of this machine, besides the node's own directory, that volumes must not expose. */
  privatePaths?: PrivatePaths
}

/** True for addresses of Services that this machine serves. Packets to other addresses would leave it. */
const isLoopback = (ip: string): boolean => ip.startsWith('127.') || ip === '::1'

/** Creates a node that runs pods as processes of this machine. The agent adopts running pods when it starts. */
export async function processNode(options: ProcessNodeOptions): Promise<{ agent: NodeAgent; runtime: ProcessRuntime }> {
  const { name, directory, clock, random, logger = silentLogger, catalogue, unknownImages, shimProgram, view } = options
  // Pods' volumes are below it, in directories that every user may enter.
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  chmodSync(directory, 0o700)
  await endPodsElsewhere({ directory, clock, random, logger }, 'process')
  const runtime = await ProcessRuntime.open({
    directory: runtimeDirectory(directory),
    hidden: [directory, ...(options.privatePaths?.directories ?? [])],
    clock,
    random,
    logger,
    ...(catalogue ? { catalogue } : {}),
    ...(unknownImages ? { unknownImages } : {}),
    ...(shimProgram ? { shimProgram } : {}),
    ...(view ? { view } : {}),
  })
  const shape = machineShape({
    name,
    directory,
    runtime: 'process',
    containerRuntimeVersion: 'process://1.0.0',
    addresses: [
      { type: 'InternalIP', address: '127.0.0.1' },
      { type: 'Hostname', address: name },
    ],
    ...(options.labels ? { labels: options.labels } : {}),
  })
  const agent = new NodeAgent({
    ...options,
    nodeName: name,
    shape: { ...shape, port: options.port ?? 0 },
    runtime,
    machine: thisMachine(directory, clock),
    prober: networkProber(runtime, clock),
    disk: localDisk,
    servesAddress: isLoopback,
    root: directory,
    users: new PodUsers(path.join(directory, 'users.json'), async () => (await runtime.isolationKnown).kind === 'user'),
    privatePaths: {
      directories: [directory, ...(options.privatePaths?.directories ?? [])],
      volumes: options.privatePaths?.volumes ?? [],
    },
    faults: allOf(annotationFaults, options.faults ?? noFaults),
  })
  void runtime.isolationKnown.then((isolation) => {
    if (isolation.kind !== 'none') return
    logger.warn(notIsolated(isolation.why), { node: name })
    // The first status may have been written before the isolation was known.
    void agent.report()
  })
  return { agent, runtime }
}
