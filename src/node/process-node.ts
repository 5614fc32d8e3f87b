import { chmodSync, mkdirSync, statfsSync } from 'node:fs'
import { arch, cpus, release, totalmem, type as systemName } from 'node:os'
import path from 'node:path'
import { silentLogger } from '../base/logger.ts'
import { NodeAgent, type NodeSurroundings } from './agent/node-agent.ts'
import { type NodeShape, notIsolated } from './agent/node-object.ts'
import { allOf, annotationFaults, noFaults } from './faults.ts'
import { thisMachine } from './machine/this-machine.ts'
import { networkProber } from './probes/network-prober.ts'
import { PodUsers } from './runtime/pod-users.ts'
import { type CatalogueEntry, ProcessRuntime } from './runtimes/process/index.ts'
import { localDisk } from './volumes/disk.ts'
import type { PrivatePaths } from './volumes/private-paths.ts'

export interface ProcessNodeOptions extends NodeSurroundings {
  name: string
  /** Where the node keeps volumes, logs and what the runtime knows. One node at a time. */
  directory: string
  catalogue?: readonly CatalogueEntry[]
  shimProgram?: string
  /** Where the agent serves logs and the like; nowhere if there is none. */
  port?: number
  labels?: NodeShape['labels']
  /** Where pods find the API server: there is nobody who leads the addresses of services anywhere. */
  apiServer?: URL
  /** Paths of this machine, besides the node's own directory, that no volume may show. */
  privatePaths?: PrivatePaths
}

const architectures: Partial<Record<string, string>> = { x64: 'amd64', ia32: '386' }
const podsAtMost = 110
const bytesPerKi = 1024

/** This machine as a node: pods are processes of its own. What ran before is adopted when the agent starts. */
export async function processNode(options: ProcessNodeOptions): Promise<{ agent: NodeAgent; runtime: ProcessRuntime }> {
  const { name, directory, clock, random, logger = silentLogger, catalogue, shimProgram } = options
  // Volumes of pods are in it, in directories that everybody may enter.
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  chmodSync(directory, 0o700)
  const runtime = await ProcessRuntime.open({
    directory: path.join(directory, 'runtime'), clock, random, logger, ...(catalogue ? { catalogue } : {}), ...(shimProgram ? { shimProgram } : {}),
  })
  void runtime.isolationKnown.then((isolation) => {
    if (isolation.kind === 'none') logger.warn(notIsolated(isolation.why), { node: name })
  })
  const agent = new NodeAgent({
    ...options,
    nodeName: name,
    shape: { ...machineShape(name, directory, options.labels), port: options.port ?? 0 },
    runtime,
    machine: thisMachine(directory, clock),
    prober: networkProber(runtime),
    disk: localDisk,
    root: directory,
    users: new PodUsers(path.join(directory, 'users.json'), async () => (await runtime.isolationKnown).kind === 'user'),
    privatePaths: { directories: [directory, ...(options.privatePaths?.directories ?? [])], volumes: options.privatePaths?.volumes ?? [] },
    faults: allOf(annotationFaults, options.faults ?? noFaults),
  })
  return { agent, runtime }
}

function machineShape(name: string, directory: string, labels: NodeShape['labels'] = {}): NodeShape {
  const disk = statfsSync(directory)
  const capacity = {
    cpu: String(cpus().length),
    memory: `${Math.floor(totalmem() / bytesPerKi)}Ki`,
    'ephemeral-storage': `${Math.floor((disk.blocks * disk.bsize) / bytesPerKi)}Ki`,
    pods: String(podsAtMost),
  }
  return {
    labels: { 'coxswain.dev/runtime': 'process', ...labels },
    taints: [],
    capacity,
    allocatable: capacity,
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }, { type: 'Hostname', address: name }],
    podCidr: undefined,
    nodeInfo: {
      architecture: architectures[arch()] ?? arch(), bootID: '', containerRuntimeVersion: 'process://1.0.0', kernelVersion: release(), kubeProxyVersion: '',
      kubeletVersion: 'v1.36.0', machineID: name, operatingSystem: process.platform, osImage: systemName(), systemUUID: name,
    },
    port: 0,
  }
}
