import { createHash } from 'node:crypto'
import type { Resource } from '../registry/resource.ts'
import { compareText } from './order.ts'
import type { Served } from './served.ts'
import { groupVersion } from './served.ts'

/** A resource or subresource in discovery. */
export interface Entry {
  name: string
  subresource: string
  singularName: string
  namespaced: boolean
  kind: string
  /** Group and version of the kind, if they differ from the resource's. */
  group?: string
  version?: string
  verbs: readonly string[]
  shortNames?: readonly string[]
  categories?: readonly string[]
  storageVersionHash?: string
}

const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
const partialVerbs = ['get', 'patch', 'update']

/** Clients compare the hash to detect a change of the storage version. */
function storageVersionHash(served: Served, resource: Resource): string {
  const at = resource.storedAs ?? resource.conversion?.storage ?? resource
  const kind = resource.storedAs
    ? (served.resources.find((r) => r.group === at.group && r.version === at.version && r.plural === at.plural)?.kind ??
      resource.kind)
    : resource.kind
  const version = resource.toldStorageVersion ?? at.version
  return createHash('sha256').update(`${at.group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64')
}

function subresources(served: Served, resource: Resource): Entry[] {
  const entries: Entry[] = []
  const add = (
    subresource: string,
    kind: { group: string; version: string; kind: string },
    verbs: readonly string[],
  ) => {
    const own = kind.group === resource.group && kind.version === resource.version
    entries.push({
      name: resource.plural,
      subresource,
      singularName: '',
      namespaced: resource.namespaced,
      kind: kind.kind,
      ...(own ? {} : { group: kind.group, version: kind.version }),
      verbs,
    })
  }
  if (resource.status) add('status', resource, partialVerbs)
  if (resource.scale) add('scale', { group: 'autoscaling', version: 'v1', kind: 'Scale' }, partialVerbs)
  for (const name of Object.keys(resource.partialUpdates ?? {}))
    add(name, resource, name === 'finalize' ? ['update'] : partialVerbs)
  for (const { of, kind, verbs } of served.actions) {
    if (of.group === resource.group && of.plural === resource.plural)
      add(of.subresource, kind, [...verbs].sort(compareText))
  }
  // Kubernetes lists the status subresource of custom resources first.
  if (resource.isCustom) return entries
  return entries.sort((a, b) => compareText(a.subresource, b.subresource))
}

function entriesOf(served: Served, resource: Resource): Entry[] {
  const main: Entry = {
    name: resource.plural,
    subresource: '',
    singularName: resource.singular ?? resource.kind.toLowerCase(),
    namespaced: resource.namespaced,
    kind: resource.kind,
    verbs: resource.verbs ?? allVerbs,
    ...(resource.shortNames?.length ? { shortNames: resource.shortNames } : {}),
    ...(resource.categories?.length ? { categories: resource.categories } : {}),
    storageVersionHash: storageVersionHash(served, resource),
  }
  return [main, ...subresources(served, resource)]
}

/** The entries of each group version (`apps/v1`), by name, each resource followed by its subresources. */
export function entriesByVersion(served: Served): Map<string, Entry[]> {
  const byVersion = new Map<string, Entry[][]>()
  const add = (version: string, entries: Entry[]) => {
    const known = byVersion.get(version)
    if (known) known.push(entries)
    else byVersion.set(version, [entries])
  }
  for (const resource of served.resources) add(groupVersion(resource), entriesOf(served, resource))
  for (const { kind, plural, namespaced, verbs, shortNames, ...of } of served.virtual) {
    const names = {
      name: plural,
      subresource: '',
      singularName: kind.toLowerCase(),
      ...(shortNames ? { shortNames } : {}),
    }
    add(groupVersion(of), [{ ...names, namespaced, kind, verbs }])
  }
  const sorted = new Map<string, Entry[]>()
  for (const [version, lists] of byVersion)
    sorted.set(version, lists.sort((a, b) => compareText(a[0]!.name, b[0]!.name)).flat())
  return sorted
}
