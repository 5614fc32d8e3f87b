import type { KubeObject } from '../../api/object.ts'

/** A request to the API. */
export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `/apis/apps/v1/namespaces/default/deployments/web` */
  path: string
  query?: Readonly<Record<string, string>>
  /** The body, sent as JSON. */
  body?: unknown
  /** Default: application/json. A patch names its type here. */
  contentType?: string
  /**
   * The Accept header. A transport that passes objects by reference may return whole objects. Default:
   * application/json.
   */
  accept?: string
  signal?: AbortSignal
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'

/** Events of a watch may share parts of their objects, so objects must not be changed. */
export interface WatchEvent<T extends KubeObject = KubeObject> {
  type: WatchEventType
  object: T
}

/**
 * Receives the events of a watch. `closed` is called once, last, however the watch ended; with an error if there was
 * one (an ApiError for an ERROR event).
 */
export interface WatchListener<T extends KubeObject = KubeObject> {
  opened(): void
  event(event: WatchEvent<T>): void
  closed(error: Error | undefined): void
}

/**
 * A client's connection to the API: over HTTP, or directly into a server of the same process. Both have the same
 * semantics. Returned objects are shared and frozen in the second case and must not be changed in either: make a copy
 * first.
 */
export interface Transport {
  /**
   * Sends a request. Rejects with an ApiError for an error response, and with a TransportError if there was no
   * response: its effect is then unknown.
   */
  send<T>(request: ApiRequest): Promise<T>
  /** Opens a watch (`watch=true` is added). The returned function ends it; `closed` is then called without an error. */
  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void
  /**
   * Calls `fn` when kinds are added or removed. Only a server of the same process reports this; others must be polled.
   * The returned function unregisters `fn`.
   */
  whenKindsChange?(fn: () => void): () => void
  /** Returns this transport with another identity. Undefined if the transport has only its own credentials. */
  as?(identity: Identity): Transport
  close(): Promise<void>
}

/** An identity for a part of a process: a controller's service account in kube-system, or a node. */
export type Identity = { kind: 'service account'; name: string } | { kind: 'node'; name: string }

/** Returns the transport with this identity, if it supports that. */
export const asIdentity = (transport: Transport, identity: Identity): Transport => transport.as?.(identity) ?? transport

/** Returns the Accept header for metadata only; a server that cannot do that returns the whole object. */
export const acceptMetadata = (kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string =>
  `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`

/** Thrown when there is no response: the connection failed, was cut, or timed out. */
export class TransportError extends Error {
  /** True if the request certainly did not reach the server. */
  readonly isUnsent: boolean

  constructor(message: string, isUnsent: boolean, options?: ErrorOptions) {
    super(message, options)
    this.name = 'TransportError'
    this.isUnsent = isUnsent
  }
}
