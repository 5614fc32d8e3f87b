export { ApiError, isAlreadyExists, isAnotherUid, isConflict, isExpired, isInvalid, isNotFound } from '../api/errors.ts'
export type * from '../api/generated/types.ts'
export { FeatureGates, knownGates } from '../api/feature-gates.ts'
export type { GateName } from '../api/feature-gates.ts'
export { addInt64, compareInt64 } from '../api/int64.ts'
export type { Int64 } from '../api/int64.ts'
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
export { fixedCredentials } from './access.ts'
export type { ClientCertificate, ClusterAccess, Credentials, Proof } from './access.ts'
export { Client } from './client.ts'
export type {
  ApplyOptions,
  ClientOptions,
  DeleteOptions,
  GetOptions,
  List,
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
} from './client.ts'
export type { IndexFunction } from './cache/index-set.ts'
export { defaultLagLimits } from './cache/lag.ts'
export type { LagLimits } from './cache/lag.ts'
export { ConsistencyStore } from './consistency-store.ts'
export type { ConsistencyStoreOptions, Readiness } from './consistency-store.ts'
export { discover } from './discovery.ts'
export type { Discovered, ServedResource } from './discovery.ts'
export type { ApplyConfiguration, Draft, New } from './draft.ts'
export { EventRecorder } from './event-recorder.ts'
export type { EventOptions, EventRecorderOptions } from './event-recorder.ts'
export { addFinalizer, finalizersPatch, hasFinalizer, removeFinalizer } from './finalizers.ts'
export { HttpTransport, dial } from './http/index.ts'
export type { DialOptions, HttpTransportOptions } from './http/index.ts'
export { InformerFactory } from './informer-factory.ts'
export type { InformerFactoryOptions, InformerSpec } from './informer-factory.ts'
export type { Informer, InformerHandler, InformerLag } from './informer.ts'
export { inClusterAccess, isInCluster, loadAccess } from './kubeconfig/index.ts'
export type { Choice, Command, CommandResult, InClusterOptions, LoadOptions, RunCommand } from './kubeconfig/index.ts'
export { LeaderElector, leaderIdentity } from './leader-election.ts'
export type { LeaderElectorOptions } from './leader-election.ts'
export { LeaderTransport, Leadership, NotLeaderError, ObservedLease, lastWrittenAnnotation } from './leadership/index.ts'
export { linkAbort } from './linked-abort.ts'
export { adoptionPatch, claim, controllerOf, isControlledBy, isControlledByUid, ownerReference, refersTo, releasePatch } from './owners.ts'
export type { Claim, OwnerPatch, OwnerReferenceOptions } from './owners.ts'
export { apiVersionOf, defineKind, keyOf, pathOf, resourceName, resourceType, splitKey } from './resource-type.ts'
export type { CustomKind, ResourceType } from './resource-type.ts'
export * from './resources.ts'
export { onAbort } from '../base/on-abort.ts'
export { TokenBucket } from './queue/index.ts'
export { waitFor } from './retry.ts'
export type { RetryOptions } from './retry.ts'
export { SharedInformer } from './shared-informer.ts'
export type { InformerScope, SharedInformerOptions } from './shared-informer.ts'
export { sharedFamilies } from './shared-metrics.ts'
export { TermRunner } from './term-runner.ts'
export type { Role, Term, TermRunnerOptions } from './term-runner.ts'
export { TransportError, acceptMetadata, asIdentity } from './transport.ts'
export type { ApiRequest, Identity, Transport, WatchEvent, WatchEventType, WatchListener } from './transport.ts'
export { Watcher, defaultRules } from './watcher/index.ts'
export type { Absence, RestartReason, WatchScope, WatcherListener, WatcherOptions, WatcherRules, WatcherState } from './watcher/index.ts'
export { QueueShutDownError, WorkQueue, resyncPriority } from './work-queue.ts'
export type { AddOptions, WorkQueueOptions } from './work-queue.ts'
