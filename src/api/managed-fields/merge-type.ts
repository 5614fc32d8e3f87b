/**
 * The part of a schema that determines how two versions of a value are merged and which fields can be owned separately.
 * Built-in kinds derive it from the schema table, custom resources from their structural schema. Types may be
 * recursive, so children are resolved on demand.
 */
export type MergeType =
  /** `of` is the JSON type, or `any` scalar. Without it, any value is accepted. */
  | { readonly kind: 'scalar'; readonly of?: 'string' | 'number' | 'boolean' | 'any' }
  | MapType
  | { readonly kind: 'list'; readonly merging: ListMerging; readonly items: MergeType }
  /** A value without a schema: maps are granular, lists are atomic. */
  | { readonly kind: 'untyped' }

/** A struct, a map, or a struct that takes other fields as well. */
export interface MapType {
  readonly kind: 'map'
  readonly isAtomic: boolean
  /** The type of a field or of a map's value; undefined for a name that the type does not have. */
  field(name: string): MergeType | undefined
  /**
   * True if the name is a field of the struct, and false if it is a key. A key is owned together with what is below it,
   * a field is not.
   */
  declares(name: string): boolean
}

/** The merge rule of a list: as one value, as a set of scalars, or by items with key fields. */
export type ListMerging =
  | { readonly kind: 'atomic' }
  | { readonly kind: 'set' }
  | {
      readonly kind: 'map'
      readonly keys: readonly string[]
      defaultOf(key: string): string | number | boolean | undefined
    }
