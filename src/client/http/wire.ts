import type { TransportError } from '../transport.ts'

/** A request as it is sent. */
export interface WireRequest {
  method: string
  /** With the query. */
  path: string
  headers: Readonly<Record<string, string | string[]>>
  body: string | undefined
  /** A watch: it stays open for as long as both sides like. */
  isLong: boolean
}

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

/** Gets an answer, in order. Exactly one of `end` and `fail` is called, last; neither after a cancellation. */
export interface Answer {
  head(code: number, headers: AnswerHeaders): void
  data(chunk: Buffer): void
  end(): void
  fail(error: TransportError): void
}

/** A way to the server on which requests can be sent now. */
export interface Wire {
  /** The returned function cancels the request. */
  start(request: WireRequest, answer: Answer): () => void
}

/** The first value of a header. */
export const headerOf = (headers: AnswerHeaders, name: string): string | undefined => {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}
