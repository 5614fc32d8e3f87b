export { Caches } from './caches.ts'
export type { Informers } from './caches.ts'
export { defineController, indexing, watching } from './definition.ts'
export type {
  AnyAction,
  AnyController,
  Applier,
  Appliers,
  ApplyContext,
  CacheIndex,
  ControllerDefinition,
  ObserveContext,
  Outcome,
  Pace,
  PacedApplier,
  StatusOf,
  Step,
  Told,
  Watch,
} from './definition.ts'
export { TerminalError } from './errors.ts'
export { ControllerManager } from './manager.ts'
export type { ControllerManagerOptions, Role } from './manager.ts'
export type { Writer } from './writer.ts'
