import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { Credentials } from '../auth/authenticate.ts'
import type { Sink } from './watch-writer.ts'

/** A body in pieces that are made as they are sent: a long list is never whole in memory. */
export interface Body {
  /** Bytes in all; undefined where that is not known before all pieces are made. */
  readonly length: number | undefined
  /** Those that take long to make come when they are made. */
  readonly pieces: Iterable<Buffer> | AsyncIterable<Buffer>
}

/** True if pieces have to be waited for. */
export const isAsync = (pieces: Body['pieces']): pieces is AsyncIterable<Buffer> => Symbol.asyncIterator in pieces

/** Where pieces go that are waited for. */
export interface PieceTarget {
  isGone(): boolean
  /** False if the client has not taken it yet. */
  write(piece: Buffer): boolean
  /** Resolves when the client has taken all, or has gone. */
  room(): Promise<void>
  end(): void
  /** Breaks it off: the client must not take what it has for whole. */
  destroy(): void
}

/** Sends pieces as they are made, as fast as the client takes them. */
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

/** A body that is at hand. */
export const wholeBody = (bytes: Buffer): Body => ({ length: bytes.length, pieces: [bytes] })

/** A client's wish to go on in another protocol than HTTP on the same connection. */
export interface Upgrade {
  /** The headers of its request that are about this. */
  readonly headers: Readonly<Record<string, string>>
  /** From now on the connection is the caller's; there is no other answer any more. */
  take(): Socket
}

/** One request and its answer, whatever carries them: HTTP/2, HTTP/1.1, or no socket at all. */
export interface Exchange {
  readonly method: string
  /** Path and query as they were sent. */
  readonly url: string
  header(name: string): string | undefined
  /** Names of headers that begin with `prefix`, in lower case. */
  headersLike(prefix: string): string[]
  readonly certificate: Credentials['certificate']
  /** The address at the other end of the connection; undefined where there is no socket. */
  readonly remoteAddress?: string | undefined
  /** The whole body; throws 413 for one longer than `limit`. */
  readBody(limit: number): Promise<Buffer>
  /** The body as it comes, without a limit, for who hands it on. */
  bodyStream(): Readable
  /** Aborted when the client goes away before the answer is finished. */
  readonly signal: AbortSignal
  respond(code: number, headers: Record<string, string | string[]>, body: Body): void
  /** Starts an answer of unknown length. */
  stream(code: number, headers: Record<string, string | string[]>): Sink
  /** Answers with what comes from somewhere else, as it comes. */
  forward(code: number, headers: Record<string, string | string[]>, source: Readable): void
  /** Undefined for a request that is about HTTP alone. */
  readonly upgrade: Upgrade | undefined
  /** Ends the connection without an answer. */
  destroy(): void
}
