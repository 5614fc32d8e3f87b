import type { KubeObject } from '../api/object.ts'

/** One request to the API, as far as a client has to say. */
export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `/apis/apps/v1/namespaces/default/deployments/web` */
  path: string
  query?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  body?: unknown
  /** Default: application/json. A patch says which kind it is. */
  contentType?: string
  /** In which form the answer is wanted. A transport that hands out objects themselves may answer them whole. Default: application/json. */
  accept?: string
  signal?: AbortSignal
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'

/** Events of a watch may share parts of their objects: these must not be changed. */
export interface WatchEvent<T extends KubeObject = KubeObject> {
  type: WatchEventType
  object: T
}

/** What an open watch tells. `closed` comes once, last, however it ended; with the error where there was one (an ApiError for an ERROR event). */
export interface WatchListener<T extends KubeObject = KubeObject> {
  opened(): void
  event(event: WatchEvent<T>): void
  closed(error: Error | undefined): void
}

/**
 * How a client reaches the API: over HTTP, or straight into a server of the same process. Both have the same semantics. What comes back is
 * shared and frozen in the second case and must not be changed in either: who wants to change it makes a copy.
 */
export interface Transport {
  /**
   * Sends a request. Rejects with an ApiError for an answer that is a failure, with a TransportError where there was no
   * answer: then nobody knows whether the request took effect.
   */
  send<T>(request: ApiRequest): Promise<T>
  /** Opens a watch (`watch=true` is added). The returned function ends it; `closed` is then called without an error. */
  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void
  /** Calls `fn` when kinds have come or gone. Only a server of the same process can tell; others have to be asked. The returned function takes that back. */
  whenKindsChange?(fn: () => void): () => void
  /** The same way to the API as another identity. Absent where the transport has only the one of its credentials. */
  as?(identity: Identity): Transport
  close(): Promise<void>
}

/** Parts of one process that act each with rights of its own: a controller as a service account of kube-system, or a node. */
export type Identity = { kind: 'service account'; name: string } | { kind: 'node'; name: string }

/** The transport as an identity, where it can be another. */
export const asIdentity = (transport: Transport, identity: Identity): Transport => transport.as?.(identity) ?? transport

/** What to accept from a server that is to answer metadata only; one that cannot answers all. */
export const acceptMetadata = (kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string => `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`

/** No answer: the connection failed, was cut, or took too long. */
export class TransportError extends Error {
  /** Whether the request surely never reached the server. */
  readonly isUnsent: boolean

  constructor(message: string, isUnsent: boolean, options?: ErrorOptions) {
    super(message, options)
    this.name = 'TransportError'
    this.isUnsent = isUnsent
  }
}
