/**
 * The serialization of a field's zero value, as in the Go types that Kubernetes clients expect:
 * - `omit`: a value with omitempty; its zero ("" 0 false [] {}) is omitted;
 * - `keep`: a pointer; what was sent is kept, zero or not, and absent stays absent;
 * - `emit`: always serialized; absent becomes its zero ("" 0 false {}, and null for lists, maps and times).
 */
type Zero = 'omit' | 'keep' | 'emit'

export type ScalarType =
  | 'string'
  | 'boolean'
  | 'int32'
  | 'int64'
  | 'double'
  | 'bytes'
  | 'time'
  | 'microTime'
  | 'duration'
  | 'quantity'
  | 'intOrString'
  | 'raw'

export type FieldType =
  | { kind: ScalarType }
  | { kind: 'struct'; name: string }
  | { kind: 'list'; of: FieldType }
  | { kind: 'map'; of: FieldType }

export interface Field {
  name: string
  type: FieldType
  zero: Zero
  /** Marked required in OpenAPI. */
  required?: boolean
  /** A pointer that is always serialized: absent becomes null. */
  nullable?: boolean
  /**
   * The Go type of a string (or of a list's or map's strings) where it has a name, which error messages use:
   * `v1.Protocol`.
   */
  goType?: string
  /**
   * The enum values in OpenAPI of a string (or of a list's or map's strings), in its order. Validation does not use it.
   */
  enum?: readonly string[]
  /** The list type for server-side apply and OpenAPI. */
  listType?: 'atomic' | 'set' | 'map'
  listMapKeys?: string[]
  mapType?: 'atomic'
  /** The patch strategy of a list (or, for `retainKeys`, of a structure). */
  patchStrategy?: 'merge' | 'replace' | 'retainKeys' | 'merge,retainKeys'
  patchMergeKey?: string
  /** Our addition to one of Kubernetes' own types. */
  isOurs?: boolean
}

export interface Struct {
  /** The Go name, which error messages use: `DeploymentSpec`. */
  goName: string
  /** The Go package version alias, which error messages use: `v1` in `v1.Container`. */
  goVersion: string
  /** The group, version and kind of a type that is served as an object. */
  apiVersion?: string
  kind?: string
  /** Atomic for server-side apply. */
  mapType?: 'atomic'
  fields: Record<string, Field>
}

/**
 * Every structure that can occur in a served object, by our type name (`Pod`, `PodSpec`, `V2HorizontalPodAutoscaler`).
 */
export type SchemaTable = Record<string, Struct>
