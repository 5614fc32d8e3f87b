export { EventCorrelator } from './correlator.ts'
export { EventNames, eventObject, eventPatch, referenceTo } from './event-object.ts'
export type { EventRecord, EventSource, EventType, Occurrence } from './event-object.ts'
export { type DropReason, type RecorderMetrics, measureRecorder } from './recorder-metrics.ts'
