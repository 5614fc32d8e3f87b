export { defineGarbageCollector, garbageCollector } from './controller.ts'
