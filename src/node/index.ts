export { NodeAgent } from './agent/node-agent.ts'
export type { NodeSurroundings } from './agent/node-agent.ts'
export type { NodeShape } from './agent/node-object.ts'
export { parseThresholds } from './eviction/signals.ts'
export { annotationFaults } from './faults.ts'
export type { Fault, Faults, Stage, Subject } from './faults.ts'
export {
  FaultPlan,
  addFaults,
  asFaultRule,
  clearFaults,
  followClusterPlan,
  listFaults,
  parseFaults,
} from './faults/index.ts'
export type { FaultRule } from './faults/index.ts'

export { simulatedMachine } from './machine/simulated-machine.ts'

export { criNode } from './cri-node.ts'

export { endNodePods, homeOfPods } from './end-pods.ts'
export { processNode } from './process-node.ts'
export type { NodeDns } from './pods/config/pod-dns.ts'

export type * from './runtime/runtime.ts'
export { findRuntime } from './runtimes/cri/index.ts'

export { parseCatalogue, processIsolation } from './runtimes/process/index.ts'
export type { CatalogueEntry, UnknownImages } from './runtimes/process/index.ts'
export { SimulatedRuntime, simulatedProber } from './runtimes/simulated/index.ts'

export { serveNode } from './server/serve-node.ts'
export type { NodeDoor } from './server/serve-node.ts'
export { NodeSources } from './sources/node-sources.ts'

export { doorNameOf, simulatedNode } from './simulated-node.ts'

export { StageTimes } from './stages.ts'
export { localDisk, noDisk } from './volumes/disk.ts'
export type { Disk } from './volumes/disk.ts'
