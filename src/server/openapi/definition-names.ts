import type { FieldType, SchemaTable } from '../../api/schema/schema.ts'
import { compareGroups } from '../discovery/order.ts'
import type { Served } from '../discovery/served.ts'
import type { Resource } from '../registry/resource.ts'

/** A type that is served under a group, version and kind. */
export interface ServedType {
  group: string
  version: string
  kind: string
  /** The name in the schema. */
  type: string
  /** The kind of lists, if it is not the kind with the suffix `List`. */
  listKind?: string | undefined
}

const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1'

const metaTypes = [
  'APIGroup',
  'APIResource',
  'APIResourceList',
  'Condition',
  'DeleteOptions',
  'FieldSelectorRequirement',
  'GroupVersionForDiscovery',
  'LabelSelector',
  'LabelSelectorRequirement',
  'ListMeta',
  'ManagedFieldsEntry',
  'ObjectMeta',
  'OwnerReference',
  'Preconditions',
  'ServerAddressByClientCIDR',
  'ShardInfo',
  'Status',
  'StatusCause',
  'StatusDetails',
]

/** Types of the core group that only kinds of other groups use. */
const coreTypes = ['TopologySelectorTerm', 'TopologySelectorLabelRequirement']

/** Kubernetes' groups whose Go types live outside of k8s.io/api. */
const ownPackages: Readonly<Record<string, string>> = {
  'apiextensions.k8s.io': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
  'apiregistration.k8s.io': 'io.k8s.kube-aggregator.pkg.apis.apiregistration',
}

/** `io.k8s.api.apps.v1` for Kubernetes' groups, the reversed name for others: `com.example.v1`. */
function packageOf({ group, version }: { group: string; version: string }): string {
  if (Object.hasOwn(ownPackages, group)) return `${ownPackages[group]}.${version}`
  if (group !== '' && group.includes('.') && !group.endsWith('.k8s.io'))
    return [...group.split('.').reverse(), version].join('.')
  return `io.k8s.api.${group === '' ? 'core' : group.split('.', 1)[0]}.${version}`
}

function structOf(type: FieldType): string | undefined {
  if (type.kind === 'struct') return type.name
  return type.kind === 'list' || type.kind === 'map' ? structOf(type.of) : undefined
}

/** The names of structures in the fields of a type. */
export function* partsOf(table: SchemaTable, type: string): Iterable<string> {
  for (const field of Object.values(table[type]?.fields ?? {})) {
    const struct = structOf(field.type)
    if (struct) yield struct
  }
}

/** All types with a kind: resources, virtual kinds, bodies of actions, scales. */
export function servedTypes(served: Served, table: SchemaTable): ServedType[] {
  const all = new Map<string, ServedType>()
  const add = (of: { group: string; version: string; kind: string }, type: string) => {
    if (table[type]) all.set(type, { group: of.group, version: of.version, kind: of.kind, type })
  }
  for (const resource of served.resources) {
    const type = resource.type ?? resource.kind
    if (resource.isCustom) all.set(type, customType(resource, type))
    else add(resource, type)
    if (resource.scale) add({ group: 'autoscaling', version: 'v1', kind: 'Scale' }, 'Scale')
  }
  for (const kind of served.virtual) add(kind, kind.kind)
  for (const action of served.actions) if (action.bodyType) add(action.kind, action.bodyType)
  return [...all.values()].sort((a, b) => compareGroups(a.group, b.group))
}

const customType = ({ group, version, kind, listKind }: Resource, type: string): ServedType => ({
  group,
  version,
  kind,
  type,
  listKind,
})

/**
 * The OpenAPI names of all reachable types. A structure belongs to the first group, in order of rank, that uses it.
 * That is correct because only structures of the core group are used by other groups.
 */
export function definitionNames(types: readonly ServedType[], table: SchemaTable): Map<string, string> {
  const names = new Map<string, string>()
  const put = (type: string, pkg: string) => names.set(type, `${pkg}.${table[type]!.goName}`)
  for (const type of metaTypes) if (table[type]) put(type, metaPackage)
  for (const type of coreTypes) if (table[type]) put(type, 'io.k8s.api.core.v1')
  // The type of a custom resource has the name of its definition.
  for (const root of types) {
    if (table[root.type]) put(root.type, packageOf(root))
    else names.set(root.type, root.type)
  }
  const visit = (type: string, pkg: string) => {
    for (const part of partsOf(table, type)) {
      if (names.has(part) || !table[part]) continue
      put(part, pkg)
      visit(part, pkg)
    }
  }
  for (const root of types) visit(root.type, packageOf(root))
  return names
}
