import { ApiError, entityTooLarge } from '../../../api/errors.ts'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { Credentials } from '../../auth/authenticate.ts'
import type { Sink } from '../watch/watch-chunks.ts'

/** A body whose pieces are generated while they are sent, so that a long list is never in memory as a whole. */
export interface Body {
  /** The length in bytes. Undefined if it is not known in advance. */
  readonly length: number | undefined
  /** Asynchronous if pieces take long to generate. */
  readonly pieces: Iterable<Buffer> | AsyncIterable<Buffer>
}

/** True for asynchronous pieces. */
export const isAsync = (pieces: Body['pieces']): pieces is AsyncIterable<Buffer> => Symbol.asyncIterator in pieces

/** The destination of asynchronous pieces. */
interface PieceTarget {
  isGone(): boolean
  /** False if the client has not read it yet. */
  write(piece: Buffer): boolean
  /** Resolves when the client has read everything, or has disconnected. */
  room(): Promise<void>
  end(): void
  /** Aborts the response, so that the client does not take it for complete. */
  destroy(): void
}

/** Sends pieces as they are generated, at the client's pace. */
export async function sendPieces(pieces: AsyncIterable<Buffer>, target: PieceTarget): Promise<void> {
  try {
    for await (const piece of pieces) {
      if (target.isGone()) return
      if (!target.write(piece)) await target.room()
    }
    target.end()
  } catch {
    target.destroy()
  }
}

/** A body in one piece. */
export const wholeBody = (bytes: Buffer): Body => ({ length: bytes.length, pieces: [bytes] })

/** A request to upgrade the connection to another protocol. */
export interface Upgrade {
  /** The upgrade headers of the request. */
  readonly headers: Readonly<Record<string, string>>
  /** Hands the connection over to the caller. No other response is possible afterwards. */
  take(): Socket
}

/** A request and its response, over HTTP/2, HTTP/1.1 or without a socket. */
export interface Exchange {
  readonly method: string
  /** The path and query, not decoded. */
  readonly url: string
  header(name: string): string | undefined
  /** The lower-case names of headers with a prefix. */
  headersLike(prefix: string): string[]
  readonly certificate: Credentials['certificate']
  /** The peer's address. Undefined without a socket. */
  readonly remoteAddress?: string | undefined
  /** Reads the whole body. Throws 413 if it is longer than `limit`. */
  readBody(limit: number): Promise<Buffer>
  /** The body as a stream without a limit, for forwarding. */
  bodyStream(): Readable
  /** Aborted when the client disconnects before the response is complete. */
  readonly signal: AbortSignal
  respond(code: number, headers: Record<string, string | string[]>, body: Body): void
  /** Starts a response of unknown length. */
  stream(code: number, headers: Record<string, string | string[]>): Sink
  /** Responds with another server's stream. */
  forward(code: number, headers: Record<string, string | string[]>, source: Readable): void
  /** Undefined for an ordinary HTTP request. */
  readonly upgrade: Upgrade | undefined
  /** Closes the connection without a response. */
  destroy(): void
}

/** The client disconnected during its request, so no response is possible. */
export class ClientGone extends Error {
  constructor() {
    super('the client has closed the connection')
    this.name = 'ClientGone'
  }
}

/** The errors for bodies that are not read to their end. */
export const bodyTooLarge = (limit: number): ApiError => entityTooLarge(`Request entity too large: limit is ${limit}`)
export const bodyTooSlow = (): ApiError =>
  new ApiError(504, 'Timeout', 'Timeout: request did not complete within requested timeout', {})
