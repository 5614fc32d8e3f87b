export { EventCorrelator } from './correlator.ts'
export { EventNames, eventObject, eventPatch, referenceTo } from './event-object.ts'
export type { EventRecord, EventSource, EventType } from './event-object.ts'
export { type RecorderMetrics, measureRecorder } from './recorder-metrics.ts'
