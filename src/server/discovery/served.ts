import { type SchemaTable, schema } from '../../api/schema/index.ts'
import type { Registered } from '../registry/registry.ts'
import type { Resource, VirtualKind } from '../registry/resource.ts'
import type { Action } from '../subresources/action.ts'

/** The input of discovery and OpenAPI. */
export interface Served {
  /** The schema of Kubernetes' built-in types. */
  schema: SchemaTable
  resources: readonly Resource[]
  actions: readonly Action[]
  virtual: readonly Pick<VirtualKind, 'group' | 'version' | 'kind' | 'plural' | 'namespaced' | 'verbs' | 'shortNames'>[]
}

/** Describes the kinds of a registry. */
export function servedBy(kinds: readonly Registered[]): Served {
  return {
    schema,
    resources: kinds.flatMap(({ resource }) => (resource.virtual ? [] : [resource])),
    actions: [...new Set(kinds.flatMap(({ actions }) => [...actions.values()]))],
    virtual: kinds.flatMap(({ resource }) =>
      resource.virtual && !resource.virtual.isHidden ? [resource.virtual] : [],
    ),
  }
}

/** The kinds with known types, which OpenAPI describes. */
export const documented = (served: Served): Served => ({
  ...served,
  virtual: served.virtual.filter(({ kind }) => Object.hasOwn(served.schema, kind)),
})

/** `v1`, `apps/v1` */
export const groupVersion = (of: { group: string; version: string }) =>
  of.group ? `${of.group}/${of.version}` : of.version
