export { AggregationDoor } from './aggregation-door.ts'
export { Aggregator } from './aggregator.ts'
export { callRemote, watchRemote } from './remote-calls.ts'
export type { Remote } from './remote.ts'
