export { answerReview } from './admission-review.ts'
export type { Admission, AdmissionRequest, AdmissionReview } from './admission-review.ts'
export { Caches } from './caches.ts'
export type { Informers } from './caches.ts'
export { defineController, indexing, watching } from './definition.ts'
export type {
  AnyAction,
  AnyController,
  Applier,
  Appliers,
  ApplyContext,
  BackOff,
  CacheIndex,
  ControllerDefinition,
  ObserveContext,
  Outcome,
  OwnerMeasures,
  Pace,
  PacedApplier,
  StatusOf,
  Step,
  Told,
  Watch,
} from './definition.ts'
export { TerminalError, isNamespaceTerminating } from './errors.ts'
export type { Size } from './gathering.ts'
export { isFree } from './free-controller.ts'
export type { FreeContext, FreeController, ManagedController, Running } from './free-controller.ts'
export { KeyLoop } from './key-loop.ts'
export type { Again } from './key-loop.ts'
export { ControllerManager } from './manager.ts'
export type { ControllerManagerOptions } from './manager.ts'
export { serveMonitoring } from './monitoring-server.ts'
export type { MonitoringServer, MonitoringServerOptions } from './monitoring-server.ts'
export { allIn, indexByNamespace } from './namespace-index.ts'
export { ReplacedVersions } from './replaced-versions.ts'
export { followPods, informerOf, ownedPods } from './keep-rosters.ts'
export type { RosterKind } from './keep-rosters.ts'
export { Roster } from './roster.ts'
export type { RosterOf, RosterReader } from './roster.ts'
export { revise, revisionAppliers } from './revision-writes.ts'
export type { RevisionAction } from './revision-writes.ts'
export { measuresUnavailability } from './unavailability.ts'
export type { Unavailability } from './unavailability.ts'
export type { RivalLease } from './rival-lease.ts'
export type { CacheScope } from './term.ts'
export type { ApplyingOptions, Writer } from './writer.ts'
