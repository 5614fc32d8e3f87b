import type { FeatureGates } from '../../api/feature-gates.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { Turns } from '../../base/turns.ts'
import type { AdmissionPlugin } from '../admission/admission.ts'
import type { Authorizer } from '../auth/authorize.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { ServerObjects, UserInfo } from '../objects/objects.ts'
import type { Registered, Registry } from '../registry/registry.ts'
import type { RuleContext } from '../registry/resource.ts'
import type { StoredObject } from '../objects/stored-object.ts'
import type { NodePlace } from '../subresources/action.ts'
import type { NotesTurns } from './long-turns.ts'
import type { Tabular } from '../answers/table.ts'
import type { Write } from '../write/write.ts'

/** What all requests share: the parts of a running server that verbs use. */
export interface ServerParts {
  registry: Registry
  objects: ObjectStore
  /** Reads and partial writes for admission and subresources. */
  access: ServerObjects
  admission: readonly AdmissionPlugin[]
  authorizer: Authorizer
  gates: FeatureGates
  clock: Clock
  random: Random
  /** Hears of every stage that a write comes to. For tests. */
  onStage?: ((stage: string, write: Write) => void) | undefined
  /** Writes leave managedFields as they are. For benches, which measure what they cost. */
  ignoresOwnership?: boolean | undefined
}

/** The body of a request, read and limited; its type decides how it is parsed. */
export interface RequestBody extends NotesTurns {
  bytes: Buffer
  contentType: string | undefined
  /** The object of a create or update whose sender is in the same process, instead of bytes. It is the sender's own: it is copied, at once. */
  value?: Json
  /** Gets the object once it is decoded, before anything is changed in it. */
  heard?: (object: KubeObject) => void
}

/** One request for a resource. */
export interface ResourceRequest {
  server: ServerParts
  target: Registered
  namespace: string
  name: string
  subresource: string
  query: URLSearchParams
  user: UserInfo
  /** Names the manager of what is written, where the query does not. */
  userAgent?: string | undefined
  body: RequestBody
  /** Sentences for Warning headers; verbs add to them. */
  warnings: string[]
  /** Adds an annotation to the request's audit events. Absent where nothing is audited. */
  note?: ((key: string, value: string) => void) | undefined
  rules: RuleContext
  /** How what takes long is done for its sender. */
  turns: Turns
  /** Aborted when the client has gone away. Asked for only by who waits: it costs more than a small request. */
  signal(): AbortSignal
}

export interface ListMeta {
  resourceVersion: string
  continue?: string
  remainingItemCount?: number
}

/** What a verb answers: data, to be encoded for a socket or handed over as it is. */
export type Result =
  | { kind: 'stored'; code: number; target: Registered; stored: StoredObject }
  | { kind: 'value'; code: number; value: object; resource?: Tabular }
  | { kind: 'list'; target: Registered; items: readonly StoredObject[]; meta: ListMeta }
  | { kind: 'watch'; target: Registered; watch: WatchSpec }
  | { kind: 'text'; code: number; text: string }
  | { kind: 'relay'; place: NodePlace }

/** What a watch is to send, after all checks. */
export interface WatchSpec {
  prefix: string
  matches: ((stored: StoredObject) => boolean) | undefined
  /** Events after this revision are sent. */
  from: number
  /** Current objects come first, as ADDED. */
  initial: 'none' | 'events' | 'events and bookmark'
  bookmarks: boolean
  timeoutMs: number | undefined
}
