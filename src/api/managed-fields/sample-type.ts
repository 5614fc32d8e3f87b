import type { MergeType } from './merge-type.ts'

const scalar: MergeType = { kind: 'scalar' }
const struct = (fields: Record<string, MergeType>, isAtomic = false): MergeType => ({ kind: 'map', isAtomic, field: (name) => fields[name] })
const map = (of: MergeType, isAtomic = false): MergeType => ({ kind: 'map', isAtomic, field: () => of })
const list = (items: MergeType): MergeType => ({ kind: 'list', merging: { kind: 'atomic' }, items })
const set: MergeType = { kind: 'list', merging: { kind: 'set' }, items: scalar }
const keyed = (items: MergeType, ...keys: string[]): MergeType => ({
  kind: 'list', merging: { kind: 'map', keys, defaultOf: (key) => (key === 'protocol' ? 'TCP' : undefined) }, items,
})

/** A type with every way to merge, for tests. */
export const sampleType: MergeType = struct({
  a: scalar,
  b: scalar,
  struct: struct({ x: scalar, y: scalar, inner: struct({ z: scalar }) }),
  whole: struct({ x: scalar, y: scalar }, true),
  map: map(scalar),
  wholeMap: map(scalar, true),
  list: list(scalar),
  set,
  items: keyed(struct({ name: scalar, v: scalar, w: scalar, set, map: map(scalar) }), 'name'),
  ports: keyed(struct({ port: scalar, protocol: scalar, name: scalar }), 'port', 'protocol'),
  any: { kind: 'untyped' },
})
