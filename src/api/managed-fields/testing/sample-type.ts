import { type Schema, mergeTypeOf } from '../../structural/index.ts'
import type { MergeType } from '../merge-type.ts'

const scalar: Schema = { 'x-kubernetes-int-or-string': true }
const struct = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: 'object',
  properties,
  ...more,
})
const map = (values: Schema, more: Schema = {}): Schema => ({ type: 'object', additionalProperties: values, ...more })
const set: Schema = { type: 'array', items: scalar, 'x-kubernetes-list-type': 'set' }
const keyed = (items: Schema, ...keys: string[]): Schema => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
})
const atomic: Schema = { 'x-kubernetes-map-type': 'atomic' }

/** A schema with every way to merge, for tests. */
export const sampleSchema: Schema = struct({
  a: scalar,
  b: scalar,
  struct: struct({ x: scalar, y: scalar, inner: struct({ z: scalar }) }),
  whole: struct({ x: scalar, y: scalar }, atomic),
  map: map(scalar),
  structs: map(struct({ x: scalar, y: scalar })),
  wholeMap: map(scalar, atomic),
  list: { type: 'array', items: scalar },
  set,
  items: keyed(
    struct({ name: scalar, v: scalar, w: scalar, set, map: map(scalar), inner: struct({ z: scalar }) }),
    'name',
  ),
  ports: keyed(struct({ port: scalar, protocol: { ...scalar, default: 'TCP' }, name: scalar }), 'port', 'protocol'),
  any: { 'x-kubernetes-preserve-unknown-fields': true },
  open: struct({ x: scalar, inner: struct({ z: scalar }) }, { 'x-kubernetes-preserve-unknown-fields': true }),
})

/** The merge type of the sample schema. */
export const sampleType: MergeType = mergeTypeOf(sampleSchema)
