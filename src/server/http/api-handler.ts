import { turnsOf } from '../../base/clock.ts'
import { type Turns, turnsFor } from '../../base/turns.ts'
import type { Logger } from '../../base/logger.ts'
import type { Series } from '../../base/metrics.ts'
import { ApiError, unauthorized } from '../../api/errors.ts'
import type { AuditedRequest, Auditor } from '../audit/index.ts'
import { answerText, arrivalOf } from './audited-exchange.ts'
import type { Authenticator, Credentials } from '../auth/authenticate.ts'
import { anonymousUser as anonymous, isOpenPath } from '../auth/authenticators/anonymous.ts'
import { extraPrefix, impersonated } from '../auth/impersonate.ts'
import { type DocumentAnswer, type DocumentRequest } from './document.ts'
import { encodeResult } from './encode.ts'
import { type Exchange, isAsync, wholeBody } from './exchange.ts'
import { ClientGone } from './client-gone.ts'
import { type Fairness, type Seat, flowRequestOf, isLongRunning, objectsOf } from '../fairness/index.ts'
import { type MemoryGuard, expectedBytes } from '../memory/index.ts'
import type { NodeRelay } from './node-relay.ts'
import { type Accepted, type Allowed, collection, negotiate, oneObject, wantsPretty, watchStream } from './negotiate.ts'
import { warningHeaders } from './warnings.ts'
import { WatchChunks } from './watch-chunks.ts'
import { WatchWriter } from './watch-writer.ts'
import { yamlText } from './yaml-text.ts'
import type { AggregationDoor, Aggregator, Remote } from '../aggregation/index.ts'
import type { UserInfo } from '../objects/objects.ts'
import type { ProxyDoor } from '../proxy/proxy-door.ts'
import { parseProxyPath, proxyAttempt } from '../proxy/proxy-path.ts'
import { refuseCrowded } from '../requests/crowded-body.ts'
import { answeredError, isStoreTrouble } from '../requests/freshness.ts'
import { parsePath, parseQuery } from '../requests/path.ts'
import { kindOf } from '../requests/kind.ts'
import { type LongTurns, type NotesTurns, inOneTurn } from '../requests/long-turns.ts'
import type { RequestKind, RequestMetrics } from '../requests/request-metrics.ts'
import type { Result, ServerParts } from '../requests/request.ts'
import { type What, resolve } from '../requests/resolve.ts'
import type { RequestPath } from '../requests/serve.ts'
import { startWatch } from '../objects/watch-stream.ts'

/** Kubernetes' limit of a request's body. */
const maxBodyBytes = 3 * 1024 * 1024

/** For so long a long answer counts among those that are being made, at most. */
const seatLimitMs = 15_000
/** A client that takes nothing of its answer for so long does not get the rest. */
const unreadLimitMs = 60_000

/** As few as this at once are done in one turn: to ask how long it has lasted costs more. */
const fewRequests = 32

/** Answers that are not about stored objects: discovery, OpenAPI, health, metrics, reviews. */
export interface Documents {
  /** Nothing where the path is none of its. */
  answer(request: DocumentRequest): Promise<DocumentAnswer | undefined> | DocumentAnswer | undefined
}

export interface HandlerOptions {
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
  /** Undefined where nobody looks after memory. */
  memory?: MemoryGuard | undefined
  maxWatches: number
  anonymous: Anonymous
  audit?: Auditor | undefined
}

/** What a request without credentials is: of the user system:anonymous, allowed on paths of health and version only, or rejected. */
export type Anonymous = 'user' | 'health' | 'none'

interface Answered {
  code: number
}

/** Answers requests: who sends it, what it asks for, the verb, and the form of the answer. */
export class ApiHandler {
  readonly #o: HandlerOptions
  readonly #inflight: { readonly mutating: Series; readonly readOnly: Series }
  /** Open watches, each with what ends it. */
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
    const what = parsed.kind === 'resource' ? resolve(exchange.method, parsed, query, this.#o.parts.registry) : undefined
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
      if (this.#o.logger.isEnabled('debug')) this.#o.logger.debug('request', { id, verb: kind.verb, method: exchange.method, uri: exchange.url, userAgent: exchange.header('user-agent'), code, seconds })
    }
  }

  /** Breaks off every watch: its client finds out at once, and asks again. */
  cutWatches(): void {
    for (const exchange of this.#watching.keys()) exchange.destroy()
  }

  /** Ends every watch as if its time were up, and what nodes answer. */
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
    const asked = this.#o.authenticator.authenticate(credentialsOf(exchange), path)
    const known = asked instanceof Promise ? await asked : asked
    const isOpen = known === anonymous && this.#o.anonymous === 'health' && exchange.method === 'GET' && isOpenPath(path)
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
    const entered = isLongRunning(what) ? undefined : this.#enter(exchange, taken ?? user ?? anonymous, path, what, headers)
    const seat = entered instanceof Promise ? await entered : entered
    try {
      const remote = this.#o.aggregator.forPath(path)
      if (remote) return await this.#passOn(exchange, path, what, remote, taken!, headers, audit)
      // Whoever sends very much at once has had this turn: the rest of it waits, and others come between.
      if (this.#o.fairness.executing > fewRequests && turnsOf(this.#o.parts.clock).isSpent) await this.#turns(seat).next()
      if (what && this.#o.memory) seat?.whenDone(this.#admit(this.#o.memory, exchange, what, taken ?? anonymous))
      if (what) return await this.#resource(exchange, what, taken!, kind, headers, seat, audit)
      if (taken) await this.#o.requests.allow(taken, { verb: exchange.method.toLowerCase(), url: path }, audit)
      return await this.#document(exchange, path, query, headers)
    } finally {
      seat?.done()
    }
  }

  /** Its place among all other requests, at once while nobody waits. */
  #enter(exchange: Exchange, user: UserInfo, path: string, what: What | undefined, headers: Record<string, string>): Seat | Promise<Seat> {
    const asks = flowRequestOf(user, exchange.method, path, what)
    return this.#o.fairness.enter(asks, objectsOf(what, this.#o.parts.objects), headers, () => exchange.signal)
  }

  /** Hands a request to the API server that serves its group and version. */
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

  /** Refuses what takes much memory while there is little. Answers what is to be called when it is done. */
  #admit(memory: MemoryGuard, exchange: Exchange, what: What, user: UserInfo): (() => void) | undefined {
    const bytes = expectedBytes(what.verb, objectsOf(what, this.#o.parts.objects), Number(exchange.header('content-length') ?? 0))
    return bytes > 0 ? memory.admit(what.verb, user, bytes) : undefined
  }

  async #document(exchange: Exchange, path: string, query: URLSearchParams, headers: Record<string, string>): Promise<Answered> {
    const found = await this.#o.documents.answer({
      method: exchange.method,
      path,
      query,
      accept: exchange.header('accept'),
      ifNoneMatch: exchange.header('if-none-match'),
    })
    if (!found) return plainNotFound(exchange, headers)
    exchange.respond(found.code, { ...headers, ...found.headers }, wholeBody(found.body))
    return found
  }

  /** The user that the Impersonate headers name, if the sender may act as that user; else the sender. */
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
      ...(kind.verb === 'LIST' ? { turns: this.#turns(seat) } : {}),
      audit,
      signal: () => exchange.signal,
      check: () => void (accepted = this.#accept(exchange, allowedFor(kind))),
      readBody: async () => ({ bytes: refuseCrowded(await exchange.readBody(maxBodyBytes)), contentType: exchange.header('content-type') }),
    })
    if (!result) return plainNotFound(exchange, headers)
    return this.#send(exchange, result, accepted ?? this.#accept(exchange, oneObject), what.query, warnings, headers, kind, user, seat, audit)
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
    if (result.kind === 'watch') return this.#watch(exchange, result, accepted, query, { ...headers, ...warning }, kind, audit)
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
    const encoding = inOneTurn(notes, 'answer', () => encodeResult(result, accepted, query, clock.now(), pretty, result.kind === 'list' ? this.#turns(seat) : undefined))
    const { code, contentType, body } = await encoding
    const { length, pieces } = body
    if (notes.longTurn) this.#o.longTurns.tell(notes.longTurn, kind, user, length ?? 0)
    const told = isAsync(pieces) ? { length, pieces: this.#told(exchange, pieces, seat) } : body
    exchange.respond(code, { ...headers, 'content-type': contentType, ...warning }, told)
    return { code }
  }

  #turns(seat: Seat | undefined): Turns {
    const turns = turnsOf(this.#o.parts.clock)
    return seat ? turnsFor(seat.flow, turns) : turns
  }

  /** The same pieces; if one cannot be made, whoever reads the log hears of it, as the client only sees an answer that breaks off. */
  async *#told(exchange: Exchange, pieces: AsyncIterable<Buffer>, seat: Seat | undefined): AsyncIterableIterator<Buffer> {
    const { clock } = this.#o.parts
    // Seats are held while pieces are made: each of them is memory. Whoever reads slowly does not keep others from theirs.
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
      this.#o.logger.error('an answer failed after it had begun', { method: exchange.method, uri: exchange.url, error })
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
    if (this.#watching.size >= maxWatches) throw new ApiError(429, 'TooManyRequests', `too many watches are open: the limit is ${maxWatches}`, { retryAfterSeconds: 1 })
    if (exchange.signal.aborted) throw new ClientGone()
    const open = metrics.watching(kind)
    const sink = exchange.stream(200, { ...headers, 'content-type': accepted.contentType })
    const onOverrun = () => {
      logger.warn('a watcher did not keep up and was cut off', { resource: result.target.resource.plural, userAgent: exchange.header('user-agent') })
      exchange.destroy()
    }
    const writer = new WatchWriter(result.target, accepted, query, sink, { clock: parts.clock, chunks: this.#chunks, onOverrun })
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

  async #fail(exchange: Exchange, e: unknown, sent: Record<string, string>, query: URLSearchParams, audit: AuditedRequest | undefined): Promise<number> {
    if (e instanceof ClientGone) return 499
    const id = sent['audit-id']
    const error = answeredError(e)
    if (!(e instanceof ApiError) && !isStoreTrouble(e)) {
      this.#o.logger.error('a request failed in a way that is our fault', { id, method: exchange.method, uri: exchange.url, error: e })
      audit?.panicked(e)
    }
    const status = error.toStatus()
    audit?.answeredStatus(status)
    if (audit?.wantsResponse) audit.answered(JSON.stringify(status))
    const retry = error.details?.retryAfterSeconds
    const headers: Record<string, string> = { ...sent, ...(retry ? { 'retry-after': String(retry) } : {}) }
    const isYaml = /^application\/yaml\b/.test(exchange.header('accept') ?? '')
    const isPretty = wantsPretty({ format: 'json', contentType: '', pretty: false }, query, exchange.header('user-agent'))
    const text = isYaml ? await yamlText(status) : `${JSON.stringify(status, null, isPretty ? 2 : undefined)}\n`
    try {
      exchange.respond(error.code, { ...headers, 'content-type': isYaml ? 'application/yaml' : 'application/json' }, wholeBody(Buffer.from(text)))
    } catch (e) {
      // An answer has begun already, and it is not this one: the client must not take it for whole.
      this.#o.logger.error('an answer failed after it had begun', { id, method: exchange.method, uri: exchange.url, error: e })
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
  exchange.respond(404, { ...headers, 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }, wholeBody(Buffer.from('404 page not found\n')))
  return { code: 404 }
}

const allowedFor = (kind: RequestKind): Allowed => {
  if (kind.verb === 'WATCH') return watchStream
  return kind.verb === 'LIST' || kind.verb === 'DELETECOLLECTION' ? collection : oneObject
}
