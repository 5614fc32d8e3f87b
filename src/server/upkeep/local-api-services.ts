import { isConflict, isNotFound } from '../../api/errors.ts'
import type { APIService } from '../../api/generated/types.ts'
import { ensureObjects } from './bootstrap.ts'
import type { Logger } from '../../base/logger.ts'
import type { Registered } from '../registry/registry.ts'
import type { ServerParts } from '../requests/request.ts'

interface GroupVersion {
  group: string
  version: string
}

const group = 'apiregistration.k8s.io'
const plural = 'apiservices'
/** The label of automatically managed APIServices: `onstart` for built-in groups, `true` for dynamic ones. */
const managedLabel = 'kube-aggregator.kubernetes.io/automanaged'

/** Kubernetes' priorities of groups and their versions, highest first. */
const priorities: Readonly<Record<string, { group: number; versions: Readonly<Record<string, number>> }>> = {
  '': { group: 18_000, versions: { v1: 1 } },
  apps: { group: 17_800, versions: { v1: 15 } },
  'events.k8s.io': { group: 17_750, versions: { v1: 15 } },
  'authentication.k8s.io': { group: 17_700, versions: { v1: 15 } },
  'authorization.k8s.io': { group: 17_600, versions: { v1: 15 } },
  autoscaling: { group: 17_500, versions: { v1: 15, v2: 30 } },
  batch: { group: 17_400, versions: { v1: 15 } },
  'certificates.k8s.io': { group: 17_300, versions: { v1: 15 } },
  'networking.k8s.io': { group: 17_200, versions: { v1: 15 } },
  policy: { group: 17_100, versions: { v1: 15 } },
  'rbac.authorization.k8s.io': { group: 17_000, versions: { v1: 15 } },
  'storage.k8s.io': { group: 16_800, versions: { v1: 15 } },
  'apiextensions.k8s.io': { group: 16_700, versions: { v1: 15 } },
  'admissionregistration.k8s.io': { group: 16_700, versions: { v1: 15 } },
  'scheduling.k8s.io': { group: 16_600, versions: { v1: 15 } },
  'coordination.k8s.io': { group: 16_500, versions: { v1: 15, v1beta1: 13 } },
  'node.k8s.io': { group: 16_300, versions: { v1: 15 } },
  'discovery.k8s.io': { group: 16_200, versions: { v1: 15 } },
  'resource.k8s.io': { group: 16_200, versions: { v1: 15 } },
  'flowcontrol.apiserver.k8s.io': { group: 16_100, versions: { v1: 21 } },
  'metrics.k8s.io': { group: 100, versions: { v1beta1: 100 } },
}

/** The priorities of custom resource groups. */
const custom = { group: 1000, version: 100 }

/** The local APIService of a group and version. */
export function localApiService({ group: name, version }: GroupVersion): APIService {
  const known = priorities[name]
  return {
    apiVersion: `${group}/v1`,
    kind: 'APIService',
    metadata: { name: `${version}.${name}`, labels: { [managedLabel]: known ? 'onstart' : 'true' } },
    spec: {
      ...(name ? { group: name } : {}),
      version,
      groupPriorityMinimum: known?.group ?? custom.group,
      versionPriority: known?.versions[version] ?? custom.version,
    },
    status: {},
  }
}

/**
 * Creates missing APIServices of served groups and deletes those of removed ones. An APIService of a user is kept and
 * takes precedence.
 */
export async function syncLocalApiServices(parts: ServerParts, served: readonly GroupVersion[]): Promise<void> {
  // The aggregator's own group has no APIService.
  const local = served.filter((gv) => gv.group !== group).map(localApiService)
  const wanted = new Map(local.map((service) => [service.metadata.name, service]))
  const target = parts.registry.stored(group, plural)!
  const isStale = ({ metadata }: APIService) =>
    metadata.labels?.[managedLabel] !== undefined && !wanted.has(metadata.name)
  const stale = parts.access.list<APIService>(group, plural, '').filter(isStale)
  await Promise.all([
    ensureObjects(parts, [...wanted.values()]),
    ...stale.map((service) => remove(parts, target, service.metadata.name!)),
  ])
}

/** Keeps the APIServices current as kinds come and go. The returned function stops this. */
export async function keepLocalApiServices(parts: ServerParts, logger: Logger): Promise<() => void> {
  const served = () => parts.registry.all().flatMap(({ resource }) => (resource.virtual?.isHidden ? [] : [resource]))
  let versions = ''
  let last = Promise.resolve()
  const sync = async () => {
    const now = [...new Set(served().map(({ group: name, version }) => `${name}/${version}`))].sort().join()
    if (now === versions) return
    versions = now
    await syncLocalApiServices(parts, served())
  }
  await sync()
  // Runs are serial, so that the last one sees the final state.
  const later = () => {
    last = last
      .then(sync)
      .catch((error: unknown) => logger.error('failed to publish the APIServices of this server', { error }))
  }
  parts.access.follow(group, plural, ({ object, previous }) => {
    const gone = object() ? undefined : (previous() as APIService)
    if (!gone?.spec.service || !isOfUs(gone, served())) return
    // The deleted APIService delegated a version to another server. The next run creates a local one again.
    versions = ''
    later()
  })
  return parts.registry.listen(later)
}

const isOfUs = ({ spec }: APIService, served: readonly GroupVersion[]): boolean =>
  served.some((gv) => gv.group === (spec.group ?? '') && gv.version === spec.version)

async function remove(parts: ServerParts, target: Registered, name: string): Promise<void> {
  try {
    await parts.access.delete(target.resource, '', name, {})
  } catch (e) {
    // Another server on the same store made the change first.
    if (!isNotFound(e) && !isConflict(e)) throw e
  }
}
