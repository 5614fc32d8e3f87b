import type { Int64 } from '../api/numbers/int64.ts'
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { RetryOptions } from './transport/retry.ts'
import type { ApiRequest } from './transport/transport.ts'

export interface ClientOptions {
  clock?: Clock
  random?: Random
  retries?: RetryOptions
  /** The field manager of the write. Default: derived by the server from the user agent. */
  fieldManager?: string
}

export interface RequestOptions {
  signal?: AbortSignal
}

export interface GetOptions extends RequestOptions {
  resourceVersion?: string
}

export interface Selection {
  labelSelector?: string
  fieldSelector?: string
}

export interface ListOptions extends Selection, RequestOptions, AnswerOptions {
  limit?: number
  continue?: string
  resourceVersion?: string
  resourceVersionMatch?: 'Exact' | 'NotOlderThan'
}

export interface ListAllOptions extends Selection, RequestOptions, AnswerOptions {
  /** Default: 500. */
  pageSize?: number
  /**
   * If the list takes so long that its revision is compacted, continue at the newest revision instead of failing with
   * 410.
   */
  allowInconsistent?: boolean
}

export interface WatchOptions extends Selection, RequestOptions {
  resourceVersion?: string
  resourceVersionMatch?: 'NotOlderThan'
  /** Default: true. */
  allowWatchBookmarks?: boolean
  sendInitialEvents?: boolean
  timeoutSeconds?: number
}

export interface WriteOptions extends RequestOptions {
  dryRun?: boolean
  fieldManager?: string
  fieldValidation?: 'Strict' | 'Warn' | 'Ignore'
}

export type PatchType = 'merge' | 'strategic' | 'json' | 'apply'

/** Options for callers that do not need the whole object. */
export interface AnswerOptions {
  /** Request only the metadata. The server may return more. */
  metadataOnly?: boolean
}

export interface PatchOptions extends WriteOptions, AnswerOptions {
  type: PatchType
  subresource?: string
  /** Take conflicting fields from other managers; apply only. */
  force?: boolean
}

/** Options of server-side apply. */
export interface ApplyOptions extends Omit<PatchOptions, 'type'> {
  /** The field manager. Its fields are replaced by those of the configuration. */
  fieldManager: string
}

export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan'

export interface DeleteOptions extends RequestOptions, AnswerOptions {
  /** Precondition: the uid of the object. */
  uid?: string
  /** Precondition: the resourceVersion of the object. */
  resourceVersion?: string
  propagationPolicy?: PropagationPolicy
  gracePeriodSeconds?: Int64
  dryRun?: boolean
}

export interface SubresourceOptions extends RequestOptions {
  /** Default: GET. */
  method?: ApiRequest['method']
  body?: unknown
  query?: Readonly<Record<string, string>>
  contentType?: string
}
