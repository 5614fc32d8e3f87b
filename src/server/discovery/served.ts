import { type SchemaTable, schema } from '../../api/schema/index.ts'
import type { Registered } from '../registry/registry.ts'
import type { Resource, VirtualKind } from '../registry/resource.ts'
import type { Action } from '../subresources/action.ts'

/** Everything that discovery and OpenAPI tell of. */
export interface Served {
  /** What the types of Kubernetes' own kinds are made of. */
  schema: SchemaTable
  resources: readonly Resource[]
  actions: readonly Action[]
  virtual: readonly Pick<VirtualKind, 'group' | 'version' | 'kind' | 'plural' | 'namespaced' | 'verbs' | 'shortNames'>[]
}

/** What there is to tell of the kinds of a registry. */
export function servedBy(kinds: readonly Registered[]): Served {
  return {
    schema,
    resources: kinds.flatMap(({ resource }) => (resource.virtual ? [] : [resource])),
    actions: [...new Set(kinds.flatMap(({ actions }) => [...actions.values()]))],
    virtual: kinds.flatMap(({ resource }) => (resource.virtual && !resource.virtual.isHidden ? [resource.virtual] : [])),
  }
}

/** The part of it that OpenAPI describes: kinds whose types are known. */
export const documented = (served: Served): Served => ({ ...served, virtual: served.virtual.filter(({ kind }) => Object.hasOwn(served.schema, kind)) })

/** `v1`, `apps/v1` */
export const groupVersion = (of: { group: string; version: string }) => (of.group ? `${of.group}/${of.version}` : of.version)
