export { answerReview } from './admission-review.ts'
export { serveWebhook } from './webhook-server.ts'
export type { ServedWebhook, WebhookServerOptions } from './webhook-server.ts'
export type { Admission, AdmissionRequest, AdmissionReview } from './admission-review.ts'
export { Caches } from './caches.ts'
export type { Informers } from './caches.ts'
export { defineController } from './definition.ts'
export type {
  AnyAction,
  AnyController,
  Applier,
  Appliers,
  ApplyContext,
  BackOff,
  ConsistencyRules,
  ControllerDefinition,
  DeletionRules,
  ObserveContext,
  Outcome,
  OwnerMeasures,
  Pace,
  PacedApplier,
  StatusOf,
  StatusStage,
  Step,
  Timing,
  Told,
} from './definition.ts'
export { TerminalError, isNamespaceTerminating } from './errors.ts'
export type { Size } from './queueing/gathering.ts'
export { isFree } from './manager/free-controller.ts'
export type { FreeContext, FreeController, ManagedController, Running } from './manager/free-controller.ts'
export { KeyLoop } from './queueing/key-loop.ts'
export type { Again } from './queueing/key-loop.ts'
export { ControllerManager } from './manager/manager.ts'
export type { ControllerManagerOptions } from './manager/manager.ts'
export { serveMonitoring } from './manager/monitoring-server.ts'
export type { MonitoringServer, MonitoringServerOptions } from './manager/monitoring-server.ts'
export { allIn, indexByNamespace, indexing, watching } from './sources.ts'
export type { CacheIndex, Sources, Watch } from './sources.ts'
export { ReplacedVersions } from './writes/replaced-versions.ts'
export { followPods, informerOf, ownedPods } from './roster/keep-rosters.ts'
export { Roster } from './roster/roster.ts'
export type { RosterKind, RosterOf, RosterReader } from './roster/roster.ts'
export { revise, revisionAppliers } from './writes/revision-writes.ts'
export type { RevisionAction } from './writes/revision-writes.ts'
export { measuresUnavailability } from './metrics.ts'
export type { Unavailability } from './metrics.ts'
export type { RivalLease } from './manager/rival-lease.ts'
export type { CacheScope } from './manager/term.ts'
export { eachOf } from './writes/apply.ts'
export type { ApplyingOptions, Writer } from './writes/writer.ts'
export { ServedKinds } from './manager/served-kinds.ts'
export type { FollowedKind } from './manager/served-kinds.ts'
