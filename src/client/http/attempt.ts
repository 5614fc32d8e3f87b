import { objectJson } from '../../api/json/index.ts'
import type { Credentials, Proof } from '../transport/access.ts'
import { onAbort } from '../../base/on-abort.ts'
import { type ApiRequest, TransportError } from '../transport/transport.ts'
import type { Connections } from './connections.ts'
import type { Deadlines } from './deadlines.ts'
import type { Answer, AnswerHeaders, Wire } from './wire.ts'

/** State shared by all requests to one server. */
export interface Host {
  origin: string
  /** Path of the server's URL without the last slash: an API may be below another path. */
  basePath: string
  connections: Connections
  credentials: Credentials
  /** Headers of every request. */
  headers: Readonly<Record<string, string | string[]>>
  deadlines: Deadlines<Attempt>
  /** Pending attempts. */
  active: Set<Attempt>
  onWarning: ((text: string) => void) | undefined
}

/**
 * Receives the response to a request. Exactly one of `end`, `fail` and `aborted` is called, last; none after a
 * cancellation.
 */
export interface Receiver {
  head(code: number, headers: AnswerHeaders): void
  data(chunk: Buffer): void
  end(): void
  fail(error: Error): void
  aborted(reason: unknown): void
}

/**
 * One request: gets credentials and a connection, enforces the timeout, and retries once with new credentials after a
 * 401.
 */
export class Attempt implements Answer {
  readonly #host: Host
  readonly #request: ApiRequest
  readonly #receiver: Receiver
  readonly #isLong: boolean
  readonly #path: string
  readonly #body: string | undefined
  #proof: Proof = {}
  #isOver = false
  #forgetSignal: (() => void) | undefined
  /** Set once the request has been sent. */
  #cancelWire: (() => void) | undefined
  /** The 401 response to the first try, in case there are no other credentials. */
  #refusal: { headers: AnswerHeaders; chunks: Buffer[] } | undefined
  #isSecondTry = false

  /** Throws if the body cannot be encoded as JSON. */
  constructor(host: Host, request: ApiRequest, isLong: boolean, receiver: Receiver) {
    const { path, query, body } = request
    this.#host = host
    this.#request = request
    this.#isLong = isLong
    this.#receiver = receiver
    this.#path = query ? `${host.basePath}${path}?${queryText(query)}` : `${host.basePath}${path}`
    this.#body = body === undefined ? undefined : objectJson(body as object)
  }

  start(): void {
    this.#host.active.add(this)
    this.#host.deadlines.start(this)
    const { signal } = this.#request
    if (signal) this.#forgetSignal = onAbort(signal, () => this.#abort())
    this.#prove()
  }

  /** Cancels the request; the receiver is not called again. */
  cancel(): void {
    if (!this.#finish()) return
    this.#cancelWire?.()
  }

  /** Ends the request because the transport is closed. */
  shutDown(): void {
    const cancelWire = this.#cancelWire
    if (this.#isLong) this.#abort()
    else this.fail(new TransportError('the transport is closed', cancelWire === undefined))
    cancelWire?.()
  }

  /** Fails the request with a timeout. */
  expire(timeoutMs: number): void {
    const isUnsent = this.#cancelWire === undefined && !this.#isSecondTry
    const cancelWire = this.#cancelWire
    this.fail(new TransportError(`no answer within ${timeoutMs / 1000} s`, isUnsent))
    cancelWire?.()
  }

  /** Removes the timeout. */
  stopTimer(): void {
    this.#host.deadlines.stop(this)
  }

  head(code: number, headers: AnswerHeaders): void {
    if (this.#isOver) return
    if (this.#host.onWarning && headers.warning)
      for (const text of warningsOf(headers.warning)) this.#host.onWarning(text)
    if (code === 401 && !this.#isSecondTry) this.#refusal = { headers, chunks: [] }
    else this.#receiver.head(code, headers)
  }

  data(chunk: Buffer): void {
    if (this.#isOver) return
    if (this.#refusal) this.#refusal.chunks.push(chunk)
    else this.#receiver.data(chunk)
  }

  end(): void {
    if (this.#refusal) return this.#tryAgain(this.#refusal)
    if (this.#finish()) this.#receiver.end()
  }

  fail(error: Error): void {
    if (!this.#finish()) return
    const { method, path } = this.#request
    const message = `${method} ${this.#host.origin}${this.#host.basePath}${path}: ${error.message}`
    this.#receiver.fail(
      error instanceof TransportError
        ? new TransportError(message, error.isUnsent, { cause: error.cause })
        : new Error(message, { cause: error }),
    )
  }

  #prove(): void {
    if (this.#isOver) return
    try {
      const proof = this.#host.credentials.current()
      if (proof instanceof Promise)
        proof.then(
          (p) => this.#connect(p),
          (e: Error) => this.fail(e),
        )
      else this.#connect(proof)
    } catch (e) {
      // Deferred until the caller has the function to cancel.
      queueMicrotask(() => this.fail(e as Error))
    }
  }

  #connect(proof: Proof): void {
    if (this.#isOver) return
    this.#proof = proof
    const wire = this.#host.connections.wire(proof.certificate, this.#isLong)
    if (wire instanceof Promise)
      wire.then(
        () => this.#prove(),
        (e: Error) => this.fail(e),
      )
    else this.#send(wire)
  }

  #send(wire: Wire): void {
    if (this.#isOver) return
    const { headers } = this.#host
    const { authorization } = this.#proof
    const { method, contentType = 'application/json', accept } = this.#request
    const proven = authorization ? { ...headers, authorization } : headers
    const own = accept ? { ...proven, accept } : proven
    const all = this.#body === undefined ? own : { ...own, 'content-type': contentType }
    this.#cancelWire = wire.start(
      { method, path: this.#path, headers: all, body: this.#body, isLong: this.#isLong },
      this,
    )
  }

  #tryAgain(refusal: { headers: AnswerHeaders; chunks: Buffer[] }): void {
    this.#refusal = undefined
    this.#isSecondTry = true
    this.#cancelWire = undefined
    this.#host.credentials.refused(this.#proof).then(
      (isOther) => {
        if (this.#isOver) return
        if (isOther) return this.#prove()
        this.#receiver.head(401, refusal.headers)
        for (const chunk of refusal.chunks) this.#receiver.data(chunk)
        this.end()
      },
      (e: Error) => this.fail(e),
    )
  }

  #abort(): void {
    if (!this.#finish()) return
    this.#cancelWire?.()
    this.#receiver.aborted(this.#request.signal?.reason)
  }

  /** Ends the attempt. Returns false if it had already ended. */
  #finish(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#host.active.delete(this)
    this.stopTimer()
    this.#forgetSignal?.()
    return true
  }
}

function queryText(query: Readonly<Record<string, string>>): string {
  let text = ''
  for (const name in query)
    text += `${text === '' ? '' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(query[name]!)}`
  return text
}

/** Parses warnings of the form `299 - "text"`; a header may contain several. */
function warningsOf(header: string | string[]): string[] {
  const all = Array.isArray(header) ? header.join(', ') : header
  return Array.from(all.matchAll(/\b\d{3} \S+ "((?:[^"\\]|\\.)*)"/g), (m) => m[1]!.replaceAll(/\\(.)/g, '$1'))
}
