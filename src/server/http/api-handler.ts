import { turnsOf } from '../../base/clock.ts'
import { type Turns, turnsFor } from '../../base/turns.ts'
import type { Logger } from '../../base/logger.ts'
import type { Series } from '../../base/metrics.ts'
import { ApiError, unauthorized } from '../../api/errors.ts'
import type { AuditedRequest, Auditor } from '../audit/index.ts'
import { answerText, arrivalOf } from './exchange/audited-exchange.ts'
import type { Authenticator, Credentials } from '../auth/authenticate.ts'
import { anonymousUser as anonymous, isOpenPath } from '../auth/authenticators/anonymous.ts'
import { extraPrefix, impersonated } from '../auth/impersonate.ts'
import { type DocumentAnswer, type DocumentRequest } from './answer/document.ts'
import { encodeResult } from './answer/encode.ts'
import { ClientGone, type Exchange, isAsync, wholeBody } from './exchange/exchange.ts'
import { type Fairness, type Seat, flowRequestOf, isLongRunning, objectsOf, objectsRead } from '../fairness/index.ts'
import { type MemoryGuard, expectedBytes } from '../memory/index.ts'
import type { NodeRelay } from './node/node-relay.ts'
import {
  type Accepted,
  type Allowed,
  collection,
  negotiate,
  oneObject,
  wantsPretty,
  watchStream,
} from './answer/negotiate.ts'
import { warningHeaders } from './exchange/warnings.ts'
import { WatchChunks } from './watch/watch-chunks.ts'
import { WatchWriter } from './watch/watch-writer.ts'
import { type WriteYaml, yamlElsewhere, yamlText } from './answer/yaml-text.ts'
import type { AggregationDoor, Aggregator, Remote } from '../aggregation/index.ts'
import type { UserInfo } from '../objects/objects.ts'
import type { ProxyDoor } from '../proxy/proxy-door.ts'
import { parseProxyPath, proxyAttempt } from '../proxy/proxy-path.ts'
import type { ParserPool } from '../parsing/parser-pool.ts'
import { longForeignBody, needsTurns, refuseCrowded } from '../requests/crowded-body.ts'
import { answeredError, isStoreTrouble } from '../requests/freshness.ts'
import { parsePath, parseQuery } from '../requests/path.ts'
import { kindOf } from '../requests/kind.ts'
import { type LongTurns, type NotesTurns, inOneTurn } from '../requests/long-turns.ts'
import type { RequestKind, RequestMetrics } from '../requests/request-metrics.ts'
import type { RequestBody, Result, ServerParts } from '../requests/request.ts'
import type { What } from '../requests/resolve.ts'
import type { RequestPath } from '../requests/serve.ts'
import { startWatch } from '../objects/watch-stream.ts'

/** The maximum size of a request body, as in Kubernetes. */
const maxBodyBytes = 3 * 1024 * 1024

/** A long response holds its seat for at most this time. */
const seatLimitMs = 15_000
/** A client that reads nothing for this long is disconnected. */
const unreadLimitMs = 60_000

/** With fewer concurrent requests the turn is not measured, because reading the clock would cost more. */
const fewRequests = 32

/** Non-resource documents: discovery, OpenAPI, health, metrics, reviews. */
interface Documents {
  /** Undefined for an unknown path. */
  answer(request: DocumentRequest): Promise<DocumentAnswer | undefined> | DocumentAnswer | undefined
}

interface HandlerOptions {
  parts: ServerParts
  authenticator: Authenticator
  documents: Documents
  requests: RequestPath
  metrics: RequestMetrics
  logger: Logger
  longTurns: LongTurns
  relay: NodeRelay
  proxy: ProxyDoor
  aggregator: Aggregator
  aggregation: AggregationDoor
  fairness: Fairness
  /** Undefined without a memory limit. */
  memory?: MemoryGuard | undefined
  /** Undefined if long bodies are parsed on the event loop. */
  parser?: ParserPool | undefined
  maxWatches: number
  anonymous: Anonymous
  audit?: Auditor | undefined
}

/**
 * The handling of requests without credentials: as system:anonymous, allowed on health and version paths only, or
 * rejected.
 */
export type Anonymous = 'user' | 'health' | 'none'

/** The announced length of a body. Undefined if none is announced. */
function bodyLength(exchange: Exchange): number | undefined {
  const announced = exchange.header('content-length')
  return announced === undefined ? undefined : Number(announced)
}

/** Reports whether the memory of a request depends on its body. */
const isOfBody = (verb: string): boolean => verb === 'create' || verb === 'update' || verb === 'patch'

interface Answered {
  code: number
}

/** Handles exchanges: authentication, resolution, priority and fairness, the verb, and the encoding of the response. */
export class ApiHandler {
  readonly #o: HandlerOptions
  readonly #inflight: { readonly mutating: Series; readonly readOnly: Series }
  /** Open watches and the functions that end them. */
  readonly #watching = new Map<Exchange, () => void>()
  readonly #chunks = new WatchChunks()

  constructor(options: HandlerOptions) {
    this.#o = options
    this.#inflight = { mutating: options.metrics.inflight(true), readOnly: options.metrics.inflight(false) }
  }

  async handle(exchange: Exchange): Promise<void> {
    const { clock, random } = this.#o.parts
    const started = clock.now()
    const id = exchange.header('audit-id') ?? random.uuid()
    const at = exchange.url.indexOf('?')
    const path = at < 0 ? exchange.url : exchange.url.slice(0, at)
    const query = parseQuery(at < 0 ? '' : exchange.url.slice(at + 1))
    const parsed = parsePath(path)
    const found = parsed.kind === 'resource' ? this.#o.requests.resolve(exchange.method, parsed, query) : undefined
    const what = found instanceof Promise ? await found : found
    const kind = kindOf(exchange.method, what)
    const isReadOnly = exchange.method === 'GET' || exchange.method === 'HEAD'
    const inflight = kind.verb === 'WATCH' ? undefined : isReadOnly ? this.#inflight.readOnly : this.#inflight.mutating
    inflight?.inc()
    const audit = this.#o.audit?.begin(arrivalOf(exchange, id, path, what, started))
    let code = 0
    const headers = { 'audit-id': id, 'cache-control': 'no-cache, private' }
    try {
      code = (await this.#answer(exchange, path, query, what, kind, headers, audit)).code
    } catch (e) {
      code = await this.#fail(exchange, e, headers, query, audit)
    } finally {
      inflight?.inc(-1)
      if (audit && !this.#watching.has(exchange)) audit.done(code)
      const seconds = (clock.now() - started) / 1000
      this.#o.metrics.done(kind, code, query.has('dryRun'), seconds)
      if (this.#o.logger.isEnabled('debug'))
        this.#o.logger.debug('request', {
          id,
          verb: kind.verb,
          method: exchange.method,
          uri: exchange.url,
          userAgent: exchange.header('user-agent'),
          code,
          seconds,
        })
    }
  }

  /** Disconnects every watch, so that its client reconnects at once. */
  cutWatches(): void {
    for (const exchange of this.#watching.keys()) exchange.destroy()
  }

  /** Ends every watch as if it had timed out, and relayed requests to kubelets. */
  endWatches(): void {
    for (const end of this.#watching.values()) end()
    this.#o.relay.end()
    this.#o.proxy.end()
    this.#o.aggregation.end()
  }

  async #answer(
    exchange: Exchange,
    path: string,
    query: URLSearchParams,
    what: What | undefined,
    kind: RequestKind,
    headers: Record<string, string>,
    audit: AuditedRequest | undefined,
  ): Promise<Answered> {
    const identify = () => this.#o.authenticator.authenticate(credentialsOf(exchange), path)
    const asked = identify()
    let known = asked instanceof Promise ? await asked : asked
    // Another server may have issued or published the token a moment ago.
    if (!known && exchange.header('authorization') !== undefined && (await this.#o.requests.caughtUp()))
      known = await identify()
    const isOpen =
      known === anonymous && this.#o.anonymous === 'health' && exchange.method === 'GET' && isOpenPath(path)
    const user = known === anonymous && this.#o.anonymous !== 'user' ? undefined : known
    if (!user && !isOpen) throw unauthorized()
    const recorded = audit?.identified(user ?? anonymous)
    if (recorded) await recorded
    const taken = user && (await this.#impersonated(exchange, user))
    if (taken && taken !== user) audit?.actsAs(taken)
    const proxied = parseProxyPath(path)
    if (proxied) {
      await this.#o.requests.allow(taken!, proxyAttempt(proxied, exchange.method), audit)
      await this.#o.requests.connect(taken!, proxied, audit)
      const code = await this.#o.proxy.serve(exchange, proxied, headers)
      audit?.started(code)
      return { code }
    }
    const entered = isLongRunning(what)
      ? undefined
      : this.#enter(exchange, taken ?? user ?? anonymous, path, what, headers)
    const seat = entered instanceof Promise ? await entered : entered
    try {
      const remote = this.#o.aggregator.forPath(path)
      if (remote) return await this.#passOn(exchange, path, what, remote, taken!, headers, audit)
      // A client that sends many requests in one turn yields to others.
      if (this.#o.fairness.executing > fewRequests && turnsOf(this.#o.parts.clock).isSpent)
        await this.#turns(seat).next()
      if (what) this.#admit(seat, what, taken ?? anonymous, bodyLength(exchange) ?? 0)
      if (what) return await this.#resource(exchange, what, taken!, kind, headers, seat, audit)
      if (taken) await this.#o.requests.allow(taken, { verb: exchange.method.toLowerCase(), url: path }, audit)
      return await this.#document(exchange, path, query, headers, kind, taken)
    } finally {
      seat?.done()
    }
  }

  /** Waits for a seat; synchronous while there is no queue. */
  #enter(
    exchange: Exchange,
    user: UserInfo,
    path: string,
    what: What | undefined,
    headers: Record<string, string>,
  ): Seat | Promise<Seat> {
    const asks = flowRequestOf(user, exchange.method, path, what)
    return this.#o.fairness.enter(asks, objectsOf(what, this.#o.parts.objects), headers, () => exchange.signal)
  }

  /** Forwards a request to the extension API server of its group and version. */
  async #passOn(
    exchange: Exchange,
    path: string,
    what: What | undefined,
    remote: Remote,
    user: UserInfo,
    headers: Record<string, string>,
    audit: AuditedRequest | undefined,
  ): Promise<Answered> {
    await this.#o.requests.allow(user, what ?? { verb: exchange.method.toLowerCase(), url: path }, audit)
    const code = await this.#o.aggregation.serve(exchange, remote, user, headers)
    audit?.started(code)
    return { code }
  }

  /** Rejects memory-intensive requests while memory is short. The reservation lasts as long as the seat. */
  #admit(seat: Seat | undefined, what: What, user: UserInfo, bodyBytes: number): void {
    const { memory, parts } = this.#o
    if (!memory || !seat) return
    const bytes = expectedBytes(what.verb, objectsRead(what, parts.objects), bodyBytes)
    if (bytes > 0) seat.whenDone(memory.admit(what.verb, user, bytes))
  }

  async #document(
    exchange: Exchange,
    path: string,
    query: URLSearchParams,
    headers: Record<string, string>,
    kind: RequestKind,
    user: UserInfo | undefined,
  ): Promise<Answered> {
    const { method } = exchange
    const asks = {
      method,
      path,
      query,
      accept: exchange.header('accept'),
      ifNoneMatch: exchange.header('if-none-match'),
    }
    const notes: NotesTurns = {}
    const found = await inOneTurn(notes, 'document', () => this.#o.documents.answer(asks))
    if (notes.longTurn) this.#o.longTurns.tell(notes.longTurn, kind, user, found?.body.length ?? 0, path)
    if (!found) return plainNotFound(exchange, headers)
    exchange.respond(found.code, { ...headers, ...found.headers }, wholeBody(found.body))
    return found
  }

  /** The impersonated user, if the sender is authorized to impersonate; otherwise the sender. */
  #impersonated(exchange: Exchange, sender: UserInfo): UserInfo | Promise<UserInfo> {
    const { user, attempts } = impersonated(sender, (name) => exchange.header(name), exchange.headersLike(extraPrefix))
    const waiting = attempts.flatMap((attempt) => this.#o.requests.allow(sender, attempt) ?? [])
    return waiting.length === 0 ? user : Promise.all(waiting).then(() => user)
  }

  async #resource(
    exchange: Exchange,
    what: What,
    user: UserInfo,
    kind: RequestKind,
    headers: Record<string, string>,
    seat: Seat | undefined,
    audit: AuditedRequest | undefined,
  ): Promise<Answered> {
    const warnings: string[] = []
    let accepted: Accepted | undefined
    const result = await this.#o.requests.run({
      what,
      user,
      userAgent: exchange.header('user-agent'),
      warnings,
      turns: this.#turns(seat),
      audit,
      signal: () => exchange.signal,
      check: () => void (accepted = this.#accept(exchange, allowedFor(kind))),
      readBody: () => this.#readBody(exchange, what, user, seat),
    })
    if (!result) return plainNotFound(exchange, headers)
    return this.#send(
      exchange,
      result,
      accepted ?? this.#accept(exchange, oneObject),
      what.query,
      warnings,
      headers,
      kind,
      user,
      seat,
      audit,
    )
  }

  async #readBody(exchange: Exchange, what: What, user: UserInfo, seat: Seat | undefined): Promise<RequestBody> {
    const sent = await exchange.readBody(maxBodyBytes)
    // Without an announced length, the body was not admitted yet.
    if (bodyLength(exchange) === undefined && isOfBody(what.verb)) this.#admit(seat, what, user, sent.length)
    const bytes = refuseCrowded(sent)
    const contentType = exchange.header('content-type')
    const { parser } = this.#o
    return {
      bytes,
      contentType,
      ...(parser && bytes.length > longForeignBody ? { convert: (body) => parser.convert(body, user.name) } : {}),
      ...(needsTurns(bytes, contentType) ? { giveWay: () => this.#turns(seat).next() } : {}),
    }
  }

  #accept(exchange: Exchange, allowed: Allowed): Accepted {
    return negotiate(exchange.header('accept'), allowed)
  }

  async #send(
    exchange: Exchange,
    result: Result,
    accepted: Accepted,
    query: URLSearchParams,
    warnings: readonly string[],
    headers: Record<string, string>,
    kind: RequestKind,
    user: UserInfo,
    seat: Seat | undefined,
    audit: AuditedRequest | undefined,
  ): Promise<Answered> {
    const warning: Record<string, string[]> = warnings.length ? { warning: warningHeaders(warnings) } : {}
    if (result.kind === 'watch')
      return this.#watch(exchange, result, accepted, query, { ...headers, ...warning }, kind, audit)
    if (result.kind === 'relay') {
      const code = await this.#o.relay.answer(exchange, result.place, headers)
      audit?.started(code)
      return { code }
    }
    const recorded = audit && answerText(audit, result, accepted, query, this.#o.parts.clock)
    if (recorded) await recorded
    const pretty = wantsPretty(accepted, query, exchange.header('user-agent'))
    const { clock } = this.#o.parts
    const notes: NotesTurns = {}
    const encoding = inOneTurn(notes, 'answer', () =>
      encodeResult(result, accepted, query, clock.now(), pretty, {
        turns: result.kind === 'list' ? this.#turns(seat) : undefined,
        writeYaml: this.#yamlFor(user),
      }),
    )
    const { code, contentType, body } = await encoding
    const { length, pieces } = body
    if (notes.longTurn) this.#o.longTurns.tell(notes.longTurn, kind, user, length ?? 0)
    const told = isAsync(pieces) ? { length, pieces: this.#told(exchange, pieces, seat) } : body
    exchange.respond(code, { ...headers, 'content-type': contentType, ...warning }, told)
    return { code }
  }

  /** Writes long answers as YAML in a thread: 16 KB take up to 10 ms. */
  #yamlFor(user: UserInfo): WriteYaml | undefined {
    const { parser } = this.#o
    return (
      parser && ((value) => yamlElsewhere(value, (bytes) => parser.convert({ format: 'to yaml', bytes }, user.name)))
    )
  }

  #turns(seat: Seat | undefined): Turns {
    const turns = turnsOf(this.#o.parts.clock)
    return seat ? turnsFor(seat.flow, turns) : turns
  }

  /** Passes pieces through and logs a failure, because the client only sees a truncated response. */
  async *#told(
    exchange: Exchange,
    pieces: AsyncIterable<Buffer>,
    seat: Seat | undefined,
  ): AsyncIterableIterator<Buffer> {
    const { clock } = this.#o.parts
    // A seat is held while a piece is encoded, since that takes memory. A slow reader does not keep it.
    seat?.keep()
    let isHeld = true
    const letGo = () => {
      if (isHeld) seat?.done()
      isHeld = false
    }
    const stops = [clock.after(seatLimitMs, letGo)]
    try {
      for await (const piece of pieces) {
        stops[1] = clock.after(unreadLimitMs, () => exchange.destroy())
        yield piece
        stops[1]()
      }
    } catch (error) {
      this.#o.logger.error('a response failed after its headers were sent', {
        method: exchange.method,
        uri: exchange.url,
        error,
      })
      throw error
    } finally {
      for (const stop of stops) stop()
      letGo()
    }
  }

  #watch(
    exchange: Exchange,
    result: Result & { kind: 'watch' },
    accepted: Accepted,
    query: URLSearchParams,
    headers: Record<string, string | string[]>,
    kind: RequestKind,
    audit: AuditedRequest | undefined,
  ): Answered {
    const { parts, metrics, maxWatches, logger } = this.#o
    if (this.#watching.size >= maxWatches)
      throw new ApiError(429, 'TooManyRequests', `too many watches are open: the limit is ${maxWatches}`, {
        retryAfterSeconds: 1,
      })
    if (exchange.signal.aborted) throw new ClientGone()
    const open = metrics.watching(kind)
    const sink = exchange.stream(200, { ...headers, 'content-type': accepted.contentType })
    const onOverrun = () => {
      logger.warn('closed a watch whose client is too slow', {
        resource: result.target.resource.plural,
        userAgent: exchange.header('user-agent'),
      })
      exchange.destroy()
    }
    const writer = new WatchWriter(result.target, accepted, query, sink, {
      clock: parts.clock,
      chunks: this.#chunks,
      onOverrun,
    })
    let stop = () => {}
    this.#watching.set(exchange, () => {
      stop()
      writer.end()
    })
    open.inc()
    exchange.signal.addEventListener('abort', () => {
      this.#watching.delete(exchange)
      audit?.done(200)
      open.inc(-1)
      stop()
    })
    audit?.started(200)
    stop = startWatch(parts.objects, result.target, result.watch, writer, parts.clock)
    return { code: 200 }
  }

  async #fail(
    exchange: Exchange,
    e: unknown,
    sent: Record<string, string>,
    query: URLSearchParams,
    audit: AuditedRequest | undefined,
  ): Promise<number> {
    if (e instanceof ClientGone) return 499
    const id = sent['audit-id']
    const error = answeredError(e)
    if (!(e instanceof ApiError) && !isStoreTrouble(e)) {
      this.#o.logger.error('internal error', {
        id,
        method: exchange.method,
        uri: exchange.url,
        error: e,
      })
      audit?.panicked(e)
    }
    const status = error.toStatus()
    audit?.answeredStatus(status)
    if (audit?.wantsResponse) audit.answered(JSON.stringify(status))
    const retry = error.details?.retryAfterSeconds
    const headers: Record<string, string> = { ...sent, ...(retry ? { 'retry-after': String(retry) } : {}) }
    const isYaml = /^application\/yaml\b/.test(exchange.header('accept') ?? '')
    const isPretty = wantsPretty(
      { format: 'json', contentType: '', pretty: false },
      query,
      exchange.header('user-agent'),
    )
    const text = isYaml ? await yamlText(status) : `${JSON.stringify(status, null, isPretty ? 2 : undefined)}\n`
    try {
      exchange.respond(
        error.code,
        { ...headers, 'content-type': isYaml ? 'application/yaml' : 'application/json' },
        wholeBody(Buffer.from(text)),
      )
    } catch (e) {
      // The response has already started, so the client must not take it for complete.
      this.#o.logger.error('a response failed after its headers were sent', {
        id,
        method: exchange.method,
        uri: exchange.url,
        error: e,
      })
      exchange.destroy()
    }
    return error.code
  }
}

const credentialsOf = (exchange: Exchange): Credentials => ({
  authorization: exchange.header('authorization'),
  certificate: exchange.certificate,
  header: (name) => exchange.header(name),
  headersLike: (prefix) => exchange.headersLike(prefix),
})

function plainNotFound(exchange: Exchange, headers: Record<string, string>): Answered {
  exchange.respond(
    404,
    { ...headers, 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    wholeBody(Buffer.from('404 page not found\n')),
  )
  return { code: 404 }
}

const allowedFor = (kind: RequestKind): Allowed => {
  if (kind.verb === 'WATCH') return watchStream
  return kind.verb === 'LIST' || kind.verb === 'DELETECOLLECTION' ? collection : oneObject
}
