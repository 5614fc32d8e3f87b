import { statfsSync } from 'node:fs'
import { arch, cpus, release, totalmem, type as systemName } from 'node:os'
import path from 'node:path'
import { silentLogger } from '../base/logger.ts'
import { NodeAgent, type NodeSurroundings } from './agent/node-agent.ts'
import type { NodeShape } from './agent/node-object.ts'
import { allOf, annotationFaults, noFaults } from './faults.ts'
import { thisMachine } from './machine/this-machine.ts'
import { networkProber } from './probes/network-prober.ts'
import { type CatalogueEntry, ProcessRuntime } from './runtimes/process/index.ts'
import { localDisk } from './volumes/disk.ts'

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
}

const architectures: Partial<Record<string, string>> = { x64: 'amd64', ia32: '386' }
const podsAtMost = 110
const bytesPerKi = 1024

/** This machine as a node: pods are processes of its own. What ran before is adopted when the agent starts. */
export async function processNode(options: ProcessNodeOptions): Promise<{ agent: NodeAgent; runtime: ProcessRuntime }> {
  const { name, directory, clock, random, logger = silentLogger, catalogue, shimProgram } = options
  const runtime = await ProcessRuntime.open({
    directory: path.join(directory, 'runtime'), clock, random, logger, ...(catalogue ? { catalogue } : {}), ...(shimProgram ? { shimProgram } : {}),
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
