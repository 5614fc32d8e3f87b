import type { TransportError } from '../transport/transport.ts'

/** A request, ready to be sent. */
export interface WireRequest {
  method: string
  /** Path and query. */
  path: string
  headers: Readonly<Record<string, string | string[]>>
  body: string | undefined
  /** True for a watch, which has no timeout. */
  isLong: boolean
}

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

/** Receives a response, in order. Exactly one of `end` and `fail` is called, last; neither after a cancellation. */
export interface Answer {
  head(code: number, headers: AnswerHeaders): void
  data(chunk: Buffer): void
  end(): void
  fail(error: TransportError): void
}

/** A connection that can send requests. */
export interface Wire {
  /** The returned function cancels the request. */
  start(request: WireRequest, answer: Answer): () => void
}

/** Returns the first value of a header. */
export const headerOf = (headers: AnswerHeaders, name: string): string | undefined => {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}
