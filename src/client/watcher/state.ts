import type { KubeObject } from '../../api/object.ts'

/** Reason why an API is absent: not served, or forbidden for this user. */
export interface Absence {
  readonly kind: 'missing' | 'forbidden'
  /** The message of the server. */
  readonly message: string
}

/** The part of a watcher's state that all states share. */
export interface Memory {
  /** The version up to which all changes have been seen, or the minimum version of the first list. Never decreases. */
  readonly seen: string
  /** Number of consecutive failures, each soon after the previous one. */
  readonly failures: number
  readonly failedAtMs: number
  /** True while the server is assumed to support streaming lists. */
  readonly canStream: boolean
  /** Set while the API is absent. */
  readonly absence?: Absence | undefined
}

/** The states of a watcher. */
export type WatcherState =
  | (Memory & { readonly kind: 'Empty' })
  /** A list was requested, page by page or, if pages expired, as a whole. */
  | (Memory & {
      readonly kind: 'Listing'
      readonly page: number
      readonly token: string
      readonly isPaged: boolean
      readonly askedAtMs: number
    })
  /** A streaming list is open and not complete yet. */
  | (Memory & { readonly kind: 'Streaming'; readonly heardAtMs: number })
  /** All changes up to `seen` are known; a watch from there was requested. */
  | (Memory & { readonly kind: 'Opening'; readonly askedAtMs: number })
  | (Memory & { readonly kind: 'Watching'; readonly openedAtMs: number; readonly heardAtMs: number })
  | (Memory & { readonly kind: 'BackingOff'; readonly next: 'list' | 'watch' })
  | (Memory & { readonly kind: 'Stopped' })

/** Reason for the failure of a request or a watch. */
export interface Failure {
  /** `expired`: the version or token is too old. `refused`: the server does not support the request. */
  readonly kind: 'expired' | 'refused' | Absence['kind'] | 'other'
  readonly message: string
  /** The delay that the server asked for. */
  readonly retryAfterMs?: number
}

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** The inputs of a watcher. */
export type WatcherInput<T extends KubeObject = KubeObject> =
  | { readonly kind: 'start' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'page'; readonly objects: readonly T[]; readonly resourceVersion: string; readonly token: string }
  | { readonly kind: 'listFailed'; readonly failure: Failure }
  | { readonly kind: 'opened' }
  | { readonly kind: 'change'; readonly type: ChangeType; readonly object: T }
  | { readonly kind: 'bookmark'; readonly resourceVersion: string; readonly isInitialEnd: boolean }
  | { readonly kind: 'closed'; readonly failure: Failure | undefined }
  /** The last requested timer has fired. */
  | { readonly kind: 'woke' }

/** Reason for a restart, as a label of the metric. */
export type RestartReason =
  | 'ended'
  | 'short'
  | 'error'
  | 'expired'
  | 'expired-page'
  | 'frozen'
  | 'no-answer'
  | 'stale'
  | 'streaming-refused'

/** The effects of a transition. */
export type WatcherEffect<T extends KubeObject = KubeObject> =
  /** `limit` 0 requests everything at once. */
  | { readonly kind: 'list'; readonly token: string; readonly limit: number }
  | {
      readonly kind: 'watch'
      readonly resourceVersion: string
      readonly sendsInitial: boolean
      readonly timeoutSeconds: number
    }
  /** Cancel the pending request or watch. */
  | { readonly kind: 'abandon' }
  /** Replaces the previous timer; undefined cancels it. */
  | { readonly kind: 'wake'; readonly afterMs: number | undefined }
  /** Collect objects of a new state that is not complete yet. */
  | { readonly kind: 'gather'; readonly objects: readonly T[] }
  | { readonly kind: 'gatherChange'; readonly type: ChangeType; readonly object: T }
  | { readonly kind: 'discardGathered' }
  /** The collected objects are complete. */
  | { readonly kind: 'replace'; readonly resourceVersion: string }
  | { readonly kind: 'notify'; readonly type: ChangeType; readonly object: T; readonly seen: string }
  | { readonly kind: 'notifyBookmark'; readonly resourceVersion: string }
  /** The server has accepted a watch that continues from what has been seen. */
  | { readonly kind: 'tellOpened' }
  /** The API has become absent (reported once per absence), or is available again. */
  | { readonly kind: 'tellAbsence'; readonly absence: Absence | undefined }
  | { readonly kind: 'report'; readonly reason: RestartReason; readonly message: string }

export interface WatcherRules {
  /** 0 lists everything at once. */
  readonly pageSize: number
  /** Timeout of a list, or of the start of a watch. */
  readonly answerMs: number
  /** A watch without any message for this time is treated as frozen: a server sends a bookmark every minute. */
  readonly silenceMs: number
  readonly backOffMs: number
  readonly maxBackOffMs: number
  /** An absent API is polled at intervals of one to two times this value, indefinitely. */
  readonly absentMs: number
  /** Failures further apart than this are not consecutive. */
  readonly resetMs: number
  /** A watch that ends sooner, without any event, counts as a failure. */
  readonly minWatchMs: number
  /** The timeout of a watch is one to two times this value, so that watches do not all end together. */
  readonly minTimeoutSeconds: number
}

/** Page size, timeouts and back-off of client-go. */
export const defaultRules: WatcherRules = {
  pageSize: 500,
  answerMs: 60_000,
  silenceMs: 120_000,
  backOffMs: 800,
  maxBackOffMs: 30_000,
  absentMs: 2000,
  resetMs: 120_000,
  minWatchMs: 1000,
  minTimeoutSeconds: 300,
}

export interface InitialOptions {
  /** The minimum resource version. */
  notOlderThan?: string
  /** Try a streaming list first. */
  stream?: boolean
}

export const initialState = ({ notOlderThan = '', stream = true }: InitialOptions = {}): WatcherState => ({
  kind: 'Empty',
  // An invalid version cannot be waited for.
  seen: /^[0-9]+$/.test(notOlderThan) ? notOlderThan : '',
  failures: 0,
  failedAtMs: Number.NEGATIVE_INFINITY,
  canStream: stream,
})
