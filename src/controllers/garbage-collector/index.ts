export { defineGarbageCollector, garbageCollector } from './controller.ts'
export type { GarbageCollectorOptions } from './controller.ts'
