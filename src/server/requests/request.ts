import type { FeatureGates } from '../../api/feature-gates.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { Turns } from '../../base/turns.ts'
import type { AdmissionMetrics } from '../admission/admission-metrics.ts'
import type { AdmissionPlugin } from '../admission/admission.ts'
import type { Authorizer } from '../auth/authorize.ts'
import type { WantedField } from '../objects/cache-listeners.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { ServerObjects, UserInfo } from '../objects/objects.ts'
import type { Registered, Registry } from '../registry/registry.ts'
import type { NodePlace, RuleContext, Tabular } from '../registry/resource.ts'
import type { StoredObject } from '../objects/stored-object.ts'
import type { NotesTurns } from './long-turns.ts'
import type { Converted, ForeignBody } from '../parsing/foreign-body.ts'

/** The parts of a running server that handlers use. */
export interface ServerParts {
  registry: Registry
  objects: ObjectStore
  /** Reads and partial writes for admission and subresources. */
  access: ServerObjects
  admission: readonly AdmissionPlugin[]
  admissionMetrics?: AdmissionMetrics
  authorizer: Authorizer
  gates: FeatureGates
  clock: Clock
  random: Random
  /** Called before each stage of a write. For tests. */
  onStage?: ((stage: string, write: WriteStep) => void) | undefined
  /** Writes do not update managedFields. For benchmarks that measure their cost. */
  ignoresOwnership?: boolean | undefined
}

/** The part of a write that `onStage` receives. */
interface WriteStep {
  request: ResourceRequest
  change: { operation: string }
}

/** The body of a request. The content type decides how it is parsed. */
export interface RequestBody extends NotesTurns {
  bytes: Buffer
  contentType: string | undefined
  /**
   * The object of an in-process create or update, in place of bytes. The sender owns it: it is copied before the call
   * returns.
   */
  value?: Json
  /**
   * Converts a long YAML or protobuf body to JSON in another thread. Undefined for short bodies and without threads.
   */
  convert?: (body: ForeignBody) => Promise<Converted>
  /** Yields to other requests between two parts of a long request. Undefined for short bodies without aliases. */
  giveWay?: () => Promise<void>
  /** Receives the decoded object before it is modified. */
  heard?: (object: KubeObject) => void
}

export interface ResourceRequest {
  server: ServerParts
  target: Registered
  namespace: string
  name: string
  subresource: string
  query: URLSearchParams
  user: UserInfo
  /** The default field manager, if the query does not name one. */
  userAgent?: string | undefined
  body: RequestBody
  /** Texts of Warning headers; handlers append to them. */
  warnings: string[]
  /** Adds an annotation to the request's audit events. Undefined without auditing. */
  note?: ((key: string, value: string) => void) | undefined
  rules: RuleContext
  /** The turns of the event loop that the requester gets for long work. */
  turns: Turns
  /** Aborted when the client disconnects. Created on demand, because an AbortSignal costs more than a small request. */
  signal(): AbortSignal
}

export interface ListMeta {
  resourceVersion: string
  continue?: string
  remainingItemCount?: number
}

/** The result of a handler. It is encoded for sockets and returned as it is in the process. */
export type Result =
  | { kind: 'stored'; code: number; target: Registered; stored: StoredObject }
  | { kind: 'value'; code: number; value: object; resource?: Tabular }
  | { kind: 'list'; target: Registered; items: readonly StoredObject[]; meta: ListMeta }
  | { kind: 'watch'; target: Registered; watch: WatchSpec }
  | { kind: 'text'; code: number; text: string }
  | { kind: 'relay'; place: NodePlace }

/** The parameters of a validated watch. */
export interface WatchSpec {
  prefix: string
  matches: ((stored: StoredObject) => boolean) | undefined
  /** The field and value that `matches` requires, if it requires one. */
  wanted?: WantedField | undefined
  /** Only events after this revision are sent. */
  from: number
  /** Current objects are sent first, as ADDED, unless this is `none`. */
  initial: 'none' | 'events' | 'events and bookmark'
  bookmarks: boolean
  timeoutMs: number | undefined
}
