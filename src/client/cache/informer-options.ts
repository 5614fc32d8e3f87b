import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import type { Random } from '../../base/random.ts'
import type { IndexFunction } from './index-set.ts'
import type { LagLimits } from './lag.ts'
import { type ResourceType, resourceName } from '../resource-type.ts'
import type { Transport } from '../transport/transport.ts'
import type { Absence, WatchScope, WatcherRules } from '../watcher/index.ts'

/** The objects that an informer follows: of one namespace, of several, or of all. */
export interface InformerScope extends WatchScope {
  /** Several namespaces, each with its own list and watch. Overrides `namespace`. */
  namespaces?: readonly string[]
}

export interface SharedInformerOptions<T extends KubeObject = KubeObject> extends InformerScope {
  transport: Transport
  type: ResourceType<T>
  clock: Clock
  random: Random
  logger?: Logger
  metrics?: MetricsRegistry
  /** Name in metrics and readiness messages; by default resource and scope: `pods`, `pods/default`. */
  name?: string
  indexes?: Readonly<Record<string, IndexFunction<T>>>
  /**
   * Returns the part of a received object to cache. It must not change its argument, and must keep name and resource
   * version.
   */
  transform?: (object: T, type: ResourceType) => T
  /** True if only metadata is needed: other members may be missing. */
  metadataOnly?: boolean
  /** Interval at which all objects are reported to the handlers again. Default: never. */
  resyncMs?: number
  limits?: Partial<LagLimits>
  rules?: Partial<WatcherRules>
  /** The minimum resource version of a list. */
  notOlderThan?: string
  /** True to get the initial state from a watch (streaming list), where the server can. Default: true. */
  stream?: boolean
}

/** `pods`, `pods/default`, `pods?status.phase=Running` */
export function scopeName(type: ResourceType, scope: InformerScope): string {
  const { labelSelector, fieldSelector } = scope
  const selectors = [labelSelector, fieldSelector].filter((s) => s).join('&')
  const namespaces = namespacesOf(scope).join(',')
  return `${resourceName(type)}${namespaces ? `/${namespaces}` : ''}${selectors ? `?${selectors}` : ''}`
}

/** `clonesets.apps.kruise.io are not served by the API server` */
export const absenceText = (type: ResourceType, { kind, message }: Absence): string =>
  kind === 'missing' ? `${resourceName(type)} are not served by the API server` : message

/** '' alone means all namespaces. */
export const namespacesOf = ({ namespace = '', namespaces }: InformerScope): string[] =>
  namespaces?.length ? [...new Set(namespaces)].sort() : [namespace]
