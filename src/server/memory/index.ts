export { MemoryGuard, expectedBytes } from './memory-guard.ts'
export { processMemory } from './machine-memory.ts'
export type { Memory } from './machine-memory.ts'
