import type { KubeObject } from '../../api/object.ts'

/** Why there is nothing to follow: the API server does not serve the resource, or does not let this user read it. */
export interface Absence {
  readonly kind: 'missing' | 'forbidden'
  /** The server's own words. */
  readonly message: string
}

/** What a watcher keeps through all its states. */
export interface Memory {
  /** Everything up to this resource version has been seen, or what is listed must be at least this new. It never goes back. */
  readonly seen: string
  /** How often it has failed, each time soon after the time before. */
  readonly failures: number
  readonly failedAtMs: number
  /** Whether the server is thought to send what is there as the beginning of a watch. */
  readonly canStream: boolean
  /** Set while the API is not there, or not for this user. */
  readonly absence?: Absence | undefined
}

/** Where a watcher is between knowing nothing and being told of every change. */
export type WatcherState =
  | (Memory & { readonly kind: 'Empty' })
  /** A list is on its way, page by page or, where pages expired, whole. */
  | (Memory & { readonly kind: 'Listing'; readonly page: number; readonly token: string; readonly isPaged: boolean; readonly askedAtMs: number })
  /** A watch is open that begins with what is there, which is not complete yet. */
  | (Memory & { readonly kind: 'Streaming'; readonly heardAtMs: number })
  /** Everything up to `seen` is known; a watch from there has been asked for. */
  | (Memory & { readonly kind: 'Opening'; readonly askedAtMs: number })
  | (Memory & { readonly kind: 'Watching'; readonly openedAtMs: number; readonly heardAtMs: number })
  | (Memory & { readonly kind: 'BackingOff'; readonly next: 'list' | 'watch' })
  | (Memory & { readonly kind: 'Stopped' })

/** Why a request or a watch came to nothing. */
export interface Failure {
  /** `expired`: the version or token is too old. `refused`: the server does not take such a request. */
  readonly kind: 'expired' | 'refused' | Absence['kind'] | 'other'
  readonly message: string
  /** How long the server wants to be left alone. */
  readonly retryAfterMs?: number
}

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** What happens to a watcher. */
export type WatcherInput<T extends KubeObject = KubeObject> =
  | { readonly kind: 'start' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'page'; readonly objects: readonly T[]; readonly resourceVersion: string; readonly token: string }
  | { readonly kind: 'listFailed'; readonly failure: Failure }
  | { readonly kind: 'opened' }
  | { readonly kind: 'change'; readonly type: ChangeType; readonly object: T }
  | { readonly kind: 'bookmark'; readonly resourceVersion: string; readonly isInitialEnd: boolean }
  | { readonly kind: 'closed'; readonly failure: Failure | undefined }
  /** The time is up that was asked for last. */
  | { readonly kind: 'woke' }

/** Why a watcher had to begin anew, as its metric says. */
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

/** What a watcher wants to be done. */
export type WatcherEffect<T extends KubeObject = KubeObject> =
  /** `limit` 0 is everything at once. */
  | { readonly kind: 'list'; readonly token: string; readonly limit: number }
  | { readonly kind: 'watch'; readonly resourceVersion: string; readonly sendsInitial: boolean; readonly timeoutSeconds: number }
  /** Whatever is on its way is not wanted any more. */
  | { readonly kind: 'abandon' }
  /** Takes the place of what was asked for before; undefined asks for nothing. */
  | { readonly kind: 'wake'; readonly afterMs: number | undefined }
  /** Objects and changes of a new state that is not complete yet. */
  | { readonly kind: 'gather'; readonly objects: readonly T[] }
  | { readonly kind: 'gatherChange'; readonly type: ChangeType; readonly object: T }
  | { readonly kind: 'discardGathered' }
  /** What was gathered is all there is. */
  | { readonly kind: 'replace'; readonly resourceVersion: string }
  | { readonly kind: 'tell'; readonly type: ChangeType; readonly object: T; readonly seen: string }
  | { readonly kind: 'tellBookmark'; readonly resourceVersion: string }
  /** The server has accepted a watch that goes on from what has been seen. */
  | { readonly kind: 'tellOpened' }
  /** The API has become absent (once for each absence), or is there again. */
  | { readonly kind: 'tellAbsence'; readonly absence: Absence | undefined }
  | { readonly kind: 'report'; readonly reason: RestartReason; readonly message: string }

export interface WatcherRules {
  /** 0 lists everything at once. */
  readonly pageSize: number
  /** How long an answer to a list, or the beginning of a watch, is waited for. */
  readonly answerMs: number
  /** A watch that says nothing for so long is frozen: a server sends a bookmark every minute. */
  readonly silenceMs: number
  readonly backOffMs: number
  readonly maxBackOffMs: number
  /** An API that is absent is asked for again after this time to twice this time, however long that goes on. */
  readonly absentMs: number
  /** Failures that are further apart than this do not add up. */
  readonly resetMs: number
  /** A watch that ends sooner, and has told nothing, was no watch. */
  readonly minWatchMs: number
  /** A watch is asked to end after this time to twice this time, so that they do not all end at once. */
  readonly minTimeoutSeconds: number
}

/** Page size, times and back-off of client-go. */
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
  /** A state older than this is refused. */
  notOlderThan?: string
  /** Whether to try to get what is there as the beginning of a watch. */
  stream?: boolean
}

export const initialState = ({ notOlderThan = '', stream = true }: InitialOptions = {}): WatcherState => ({
  kind: 'Empty',
  // What is no version cannot be waited for.
  seen: /^[0-9]+$/.test(notOlderThan) ? notOlderThan : '',
  failures: 0,
  failedAtMs: Number.NEGATIVE_INFINITY,
  canStream: stream,
})
