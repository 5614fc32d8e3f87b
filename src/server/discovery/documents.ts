import type { Entry } from './entries.ts'
import { compareGroups, compareVersions } from './order.ts'
import { type RemoteVersion, remoteOrder } from './remote-versions.ts'
import type { Served } from './served.ts'
import { groupVersion } from './served.ts'

/** A group and its versions, the preferred one first. */
export interface Group {
  name: string
  versions: string[]
}

/** All groups in Kubernetes' order, the core group ('') first. */
export function groupsOf(served: Served, remotes: readonly RemoteVersion[] = []): Group[] {
  const groups = new Map<string, Set<string>>()
  for (const { group, version } of [...served.resources, ...served.virtual, ...remotes]) {
    const versions = groups.get(group) ?? new Set()
    groups.set(group, versions.add(version))
  }
  const order = remotes.length ? remoteOrder(remotes) : { groups: compareGroups, versionsOf: () => compareVersions }
  return [...groups.keys()]
    .sort(order.groups)
    .map((name) => ({ name, versions: [...groups.get(name)!].sort(order.versionsOf(name)) }))
}

/** The document of /api. `serverAddress` is host and port. */
export const apiVersions = (core: Group | undefined, serverAddress: string) => ({
  kind: 'APIVersions',
  versions: core?.versions ?? [],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
})

function describeGroup({ name, versions }: Group) {
  const all = versions.map((version) => ({ groupVersion: groupVersion({ group: name, version }), version }))
  return { name, versions: all, preferredVersion: all[0] }
}

/** The document of /apis: all groups but the core group. */
export const apiGroupList = (groups: readonly Group[]) => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: groups.filter((g) => g.name !== '').map(describeGroup),
})

/** The document of /apis/apps. */
export const apiGroup = (group: Group) => ({ kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group) })

/** The document of /api/v1 and /apis/apps/v1. */
export const apiResourceList = (version: string, entries: readonly Entry[]) => ({
  kind: 'APIResourceList',
  // Kubernetes omits it for the core group, and some clients check that.
  ...(version.includes('/') ? { apiVersion: 'v1' } : {}),
  groupVersion: version,
  resources: entries.map(({ subresource, ...entry }) => ({
    ...entry,
    name: subresource ? `${entry.name}/${subresource}` : entry.name,
  })),
})

const responseKind = ({ group = '', version = '', kind }: Entry) => ({ group, version, kind })

function describeResources(entries: readonly Entry[]) {
  const resources = []
  for (const entry of entries) {
    if (entry.subresource) continue
    const subresources = entries
      .filter((e) => e.subresource && e.name === entry.name)
      .map((e) => ({ subresource: e.subresource, responseKind: responseKind(e), verbs: e.verbs }))
    resources.push({
      resource: entry.name,
      responseKind: responseKind(entry),
      scope: entry.namespaced ? 'Namespaced' : 'Cluster',
      singularResource: entry.singularName,
      verbs: entry.verbs,
      ...(entry.shortNames ? { shortNames: entry.shortNames } : {}),
      ...(entry.categories ? { categories: entry.categories } : {}),
      ...(subresources.length ? { subresources } : {}),
    })
  }
  return resources
}

/** Aggregated discovery, as kubectl requests it: /api contains the core group, /apis the others. */
export const apiGroupDiscoveryList = (
  groups: readonly Group[],
  entries: ReadonlyMap<string, readonly Entry[]>,
  stale: ReadonlySet<string>,
) => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  metadata: {},
  items: groups.map((group) => ({
    metadata: group.name ? { name: group.name } : {},
    versions: group.versions.map((version) => ({
      version,
      resources: describeResources(entries.get(groupVersion({ group: group.name, version })) ?? []),
      freshness: stale.has(groupVersion({ group: group.name, version })) ? 'Stale' : 'Current',
    })),
  })),
})
