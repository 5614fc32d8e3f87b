import { chmodSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { silentLogger } from '../base/logger.ts'
import { NodeAgent, type NodeSurroundings } from './agent/node-agent.ts'
import { type NodeShape, notIsolated } from './agent/node-object.ts'
import { runtimeDirectory } from './end-pods.ts'
import { allOf, annotationFaults, noFaults } from './faults.ts'
import { machineShape } from './machine/machine-shape.ts'
import { thisMachine } from './machine/this-machine.ts'
import { networkProber } from './probes/network-prober.ts'
import { PodUsers } from './runtime/pod-users.ts'
import { type CatalogueEntry, ProcessRuntime, type UnknownImages } from './runtimes/process/index.ts'
import { localDisk } from './volumes/disk.ts'
import type { PrivatePaths } from './volumes/private-paths.ts'

export interface ProcessNodeOptions extends NodeSurroundings {
  name: string
  /** Where the node keeps volumes, logs and what the runtime knows. One node at a time. */
  directory: string
  catalogue?: readonly CatalogueEntry[]
  /** The treatment of images that are not in the catalogue. */
  unknownImages?: UnknownImages
  shimProgram?: string
  /** Where the agent serves logs and the like; nowhere if there is none. */
  port?: number
  labels?: NodeShape['labels']
  /** Where pods find the API server: there is nobody who leads the addresses of services anywhere. */
  apiServer?: URL
  /** Paths of this machine, besides the node's own directory, that no volume may show. */
  privatePaths?: PrivatePaths
}

/** Addresses of Services that this machine serves: packets to any other would leave it. */
const isLoopback = (ip: string): boolean => ip.startsWith('127.') || ip === '::1'

/** This machine as a node: pods are processes of its own. What ran before is adopted when the agent starts. */
export async function processNode(options: ProcessNodeOptions): Promise<{ agent: NodeAgent; runtime: ProcessRuntime }> {
  const { name, directory, clock, random, logger = silentLogger, catalogue, unknownImages, shimProgram } = options
  // Volumes of pods are in it, in directories that everybody may enter.
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  chmodSync(directory, 0o700)
  const runtime = await ProcessRuntime.open({
    directory: runtimeDirectory(directory),
    hidden: [directory, ...(options.privatePaths?.directories ?? [])],
    clock,
    random,
    logger,
    ...(catalogue ? { catalogue } : {}),
    ...(unknownImages ? { unknownImages } : {}),
    ...(shimProgram ? { shimProgram } : {}),
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
    prober: networkProber(runtime),
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
    // Its first status may have been written before that was known.
    void agent.report()
  })
  return { agent, runtime }
}
