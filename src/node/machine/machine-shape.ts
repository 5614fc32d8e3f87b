import { statfsSync } from 'node:fs'
import { arch, cpus, release, totalmem, type as systemName } from 'node:os'
import type { NodeShape } from '../agent/node-object.ts'

const architectures: Partial<Record<string, string>> = { x64: 'amd64', ia32: '386' }
const podsAtMost = 110
const bytesPerKi = 1024

interface MachineShapeOptions {
  name: string
  /** A directory on the node's file system. */
  directory: string
  /** The name of the runtime, for the label `coxswain.dev/runtime`. */
  runtime: string
  /** For example `containerd://1.7.24`. */
  containerRuntimeVersion: string
  addresses: NodeShape['addresses']
  labels?: NodeShape['labels']
}

/** Describes this machine as a node. */
export function machineShape({
  name,
  directory,
  runtime,
  containerRuntimeVersion,
  addresses,
  labels = {},
}: MachineShapeOptions): NodeShape {
  const disk = statfsSync(directory)
  const capacity = {
    cpu: String(cpus().length),
    memory: `${Math.floor(totalmem() / bytesPerKi)}Ki`,
    'ephemeral-storage': `${Math.floor((disk.blocks * disk.bsize) / bytesPerKi)}Ki`,
    pods: String(podsAtMost),
  }
  return {
    labels: { 'coxswain.dev/runtime': runtime, ...labels },
    taints: [],
    capacity,
    allocatable: capacity,
    addresses,
    podCidr: undefined,
    nodeInfo: {
      architecture: architectures[arch()] ?? arch(),
      bootID: '',
      containerRuntimeVersion,
      kernelVersion: release(),
      kubeProxyVersion: '',
      kubeletVersion: 'v1.36.0',
      machineID: name,
      operatingSystem: process.platform,
      osImage: systemName(),
      systemUUID: name,
    },
    port: 0,
  }
}
