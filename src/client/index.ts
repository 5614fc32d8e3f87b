export { ApiError, isAlreadyExists, isAnotherUid, isConflict, isExpired, isInvalid, isNotFound } from '../api/errors.ts'
export type * from '../api/generated/types.ts'
export { FeatureGates, knownGates } from '../api/feature-gates.ts'
export type { GateName } from '../api/feature-gates.ts'
export { addInt64, compareInt64 } from '../api/numbers/int64.ts'
export type { Int64 } from '../api/numbers/int64.ts'
export type { KubeObject } from '../api/object.ts'
export { compileLabelSelector, labelSelectorMatches } from '../api/selectors/label-selector.ts'
export { systemClock } from '../base/clock.ts'
export type { Clock } from '../base/clock.ts'
export { Logger, silentLogger } from '../base/logger.ts'
export type { LogLevel } from '../base/logger.ts'
export { MetricsRegistry } from '../base/metrics.ts'
export type { Counter, Gauge, Histogram, Labels } from '../base/metrics.ts'
export { systemRandom } from '../base/random.ts'
export type { Random } from '../base/random.ts'
export { fixedCredentials } from './transport/access.ts'
export type { ClientCertificate, ClusterAccess, Credentials, Proof } from './transport/access.ts'
export { Client } from './client.ts'
export type { List } from './client.ts'
export type {
  ApplyOptions,
  ClientOptions,
  DeleteOptions,
  GetOptions,
  ListAllOptions,
  ListOptions,
  PatchOptions,
  PatchType,
  PropagationPolicy,
  RequestOptions,
  Selection,
  SubresourceOptions,
  WatchOptions,
  WriteOptions,
} from './request-options.ts'
export type { IndexFunction } from './cache/index-set.ts'
export { defaultLagLimits } from './cache/lag.ts'
export type { LagLimits } from './cache/lag.ts'
export { ConsistencyStore } from './cache/consistency-store.ts'
export type { ConsistencyStoreOptions, Readiness } from './cache/consistency-store.ts'
export { discover } from './discovery.ts'
export type { Discovered, ServedResource } from './discovery.ts'
export type { ApplyConfiguration, Draft, New } from './draft.ts'
export { EventRecorder } from './events/event-recorder.ts'
export type { EventOptions, EventRecorderOptions } from './events/event-recorder.ts'
export { addFinalizer, finalizersPatch, hasFinalizer, removeFinalizer } from './finalizers.ts'
export { HttpTransport, dial } from './http/index.ts'
export type { DialOptions, HttpTransportOptions } from './http/index.ts'
export { InformerFactory } from './cache/informer-factory.ts'
export type { InformerFactoryOptions, InformerSpec } from './cache/informer-factory.ts'
export type { Informer, InformerHandler, InformerLag } from './cache/informer.ts'
export { inClusterAccess, isInCluster, loadAccess } from './kubeconfig/index.ts'
export type { Choice, Command, CommandResult, InClusterOptions, LoadOptions, RunCommand } from './kubeconfig/index.ts'
export { LeaderElector, leaderIdentity } from './leadership/leader-election.ts'
export type { LeaderElectorOptions } from './leadership/leader-election.ts'
export {
  LeaderTransport,
  Leadership,
  NotLeaderError,
  ObservedLease,
  lastWrittenAnnotation,
} from './leadership/index.ts'
export { linkAbort } from './transport/linked-abort.ts'
export {
  adoptionPatch,
  claim,
  controllerOf,
  isControlledBy,
  isControlledByUid,
  ownerReference,
  refersTo,
  releasePatch,
} from './owners.ts'
export type { Claim, OwnerPatch, OwnerReferenceOptions } from './owners.ts'
export { apiVersionOf, defineKind, keyOf, pathOf, resourceName, resourceType, splitKey } from './resource-type.ts'
export type { CustomKind, ResourceType } from './resource-type.ts'
export * from './resources.ts'
export { onAbort } from '../base/on-abort.ts'
export { TokenBucket } from './queue/index.ts'
export { waitFor } from './transport/retry.ts'
export type { RetryOptions } from './transport/retry.ts'
export { SharedInformer } from './cache/shared-informer.ts'
export type { InformerScope, SharedInformerOptions } from './cache/informer-options.ts'
export { sharedFamilies } from './cache/shared-metrics.ts'
export { TermRunner } from './leadership/term-runner.ts'
export type { Role, Term, TermRunnerOptions } from './leadership/term-runner.ts'
export { TransportError, acceptMetadata, asIdentity } from './transport/transport.ts'
export type {
  ApiRequest,
  Identity,
  Transport,
  WatchEvent,
  WatchEventType,
  WatchListener,
} from './transport/transport.ts'
export { Watcher, defaultRules } from './watcher/index.ts'
export type {
  Absence,
  RestartReason,
  WatchScope,
  WatcherListener,
  WatcherOptions,
  WatcherRules,
  WatcherState,
} from './watcher/index.ts'
export { QueueShutDownError, WorkQueue, resyncPriority } from './queue/work-queue.ts'
export type { AddOptions, WorkQueueOptions } from './queue/work-queue.ts'
