import { badRequest, methodNotAllowed, notFound, notFoundPath, serviceUnavailable } from '../../api/errors.ts'
import { turnsOf } from '../../base/clock.ts'
import type { Turns } from '../../base/turns.ts'
import type { AuditedRequest } from '../audit/index.ts'
import { type Attempt, type Decision, forbiddenAttempt } from '../auth/authorize.ts'
import type { UserInfo } from '../objects/objects.ts'
import { freshness } from './freshness.ts'
import { kindOf } from './kind.ts'
import type { ResourcePath } from './path.ts'
import { type LongTurns, type NotesTurns, inOneTurn } from './long-turns.ts'
import type { RequestBody, ResourceRequest, Result, ServerParts } from './request.ts'
import { checkTimeout } from '../verbs/list-options.ts'
import { type ProxyPath, parseProxyId } from '../proxy/proxy-path.ts'
import { admitConnection } from '../write/admission.ts'
import { shownResult } from '../verbs/shown.ts'
import { groupResource } from '../write/names.ts'
import { systemRequest } from './system-request.ts'
import { type What, resolve } from './resolve.ts'

/** A request for a resource, over HTTP or from this process. */
interface Call {
  what: What
  user: UserInfo
  userAgent?: string | undefined
  /** Texts of Warning headers are appended here. */
  warnings: string[]
  /** The turns of the event loop for long work. Default: those of in-process callers. */
  turns?: Turns
  /** Undefined without auditing. */
  audit?: AuditedRequest | undefined
  signal(): AbortSignal
  /** Checks that run before the body is read: for example, that the client accepts a supported content type. */
  check?(): void
  readBody(): Promise<RequestBody> | RequestBody
  /** Copies the body before an await. The sender may mutate its own body once the call returns. */
  keepBody?(): void
}

interface ServeContext {
  parts: ServerParts
  hasGroup(group: string): Promise<boolean>
  /** The error that made the store unavailable. The cache may be stale then, so nothing is served. */
  lost(): Error | undefined
  longTurns: LongTurns
  /** Resolves when all known custom resources are served. */
  kindsSettled(): Promise<void>
}

const noBody: RequestBody = { bytes: Buffer.alloc(0), contentType: undefined }

/**
 * Authorizes a resolved request, reads its body and calls the handler, which reads objects or starts a write. It is
 * independent of sockets and encodings.
 */
export class RequestPath {
  readonly #context: ServeContext

  constructor(context: ServeContext) {
    this.#context = context
  }

  /** Undefined if the path's API group does not exist. */
  async run(call: Call): Promise<Result | undefined> {
    this.#checkStore()
    for (const attempt of attemptsOf(call.what)) {
      const asked = this.allow(call.user, attempt, call.audit)
      if (!asked) continue
      call.keepBody?.()
      await asked
    }
    const { target } = call.what
    if (!target) return this.#unknown(call)
    if (call.what.handler === 'not found' && isOutOfScope(call.what)) {
      if (target.resource.isCustom) return undefined
      throw notFoundPath()
    }
    if (call.what.method === 'HEAD') throw methodNotAllowed()
    call.check?.()
    checkTimeout(call.what.query)
    const { parts } = this.#context
    const fresh = freshness(parts.objects, call.what.method, call.what.query, parts.clock)
    if (fresh) {
      call.keepBody?.()
      await fresh
    }
    const sent = call.what.method === 'GET' ? noBody : call.readBody()
    // An existing body is decoded before the call returns, because its sender may mutate it afterwards.
    return this.#answer(call, sent instanceof Promise ? await sent : sent)
  }

  /**
   * Throws if the user is not authorized. Waits only if an authorizer calls a webhook, or if another server may have
   * stored a role that this one has not seen.
   */
  allow(user: UserInfo, attempt: Attempt, audit?: AuditedRequest): Promise<void> | undefined {
    const asked = this.#context.parts.authorizer.authorize(user, attempt)
    const isRefusal = (decision: Decision) => !decision.allowed && this.#isShared
    if (asked instanceof Promise || isRefusal(asked)) return this.#allowLater(user, attempt, asked, audit)
    checkAllowed(user, attempt, asked, audit)
    return undefined
  }

  async #allowLater(
    user: UserInfo,
    attempt: Attempt,
    asked: Decision | Promise<Decision>,
    audit: AuditedRequest | undefined,
  ): Promise<void> {
    let decision = await asked
    if (!decision.allowed && (await this.caughtUp()))
      decision = await this.#context.parts.authorizer.authorize(user, attempt)
    checkAllowed(user, attempt, decision, audit)
  }

  get #isShared(): boolean {
    return this.#context.parts.objects.isShared
  }

  /**
   * Resolves to true once the cache has seen all that other servers have acknowledged. False if the store is not shared
   * or fails.
   */
  caughtUp(): Promise<boolean> | false {
    const { parts } = this.#context
    return (
      this.#isShared &&
      parts.objects.catchUp().then(
        () => true,
        () => false,
      )
    )
  }

  /** Resolves a request. Waits only if another server may have defined its kind. */
  resolve(method: string, path: ResourcePath, query: URLSearchParams): What | Promise<What> {
    const find = () => resolve(method, path, query, this.#context.parts.registry)
    const found = find()
    const waiting = !found.target && this.caughtUp()
    return waiting ? waiting.then(() => this.#context.kindsSettled()).then(find) : found
  }

  /** Runs admission for a proxied request (CONNECT). */
  async connect(user: UserInfo, { kind, namespace, id, rest }: ProxyPath, audit?: AuditedRequest): Promise<void> {
    const { parts } = this.#context
    const target = parts.registry.find('v1', kind)
    if (!target) return
    const request = {
      ...systemRequest(parts, target, namespace, parseProxyId(kind, id).name),
      subresource: 'proxy',
      user,
      note: noteOf(audit),
    }
    await admitConnection(request, { kind: `${target.resource.kind}ProxyOptions`, ...(rest ? { path: rest } : {}) })
  }

  #checkStore(): void {
    const lost = this.#context.lost()
    if (lost) throw serviceUnavailable(`the watch of the store has failed: ${lost.message}`)
  }

  async #unknown(call: Call): Promise<undefined> {
    await call.readBody()
    if (!(await this.#context.hasGroup(call.what.path.group))) return undefined
    throw notFoundPath()
  }

  #answer(
    { what, user, userAgent, warnings, audit, signal, turns = turnsOf(this.#context.parts.clock) }: Call,
    sent: RequestBody,
  ): Result | Promise<Result> {
    const { parts } = this.#context
    const {
      handler,
      path: { namespace, name, subresource },
      query,
    } = what
    if (handler === 'not found')
      throw what.target!.resource.isCustom ? notFound(groupResource(what.target!), name) : notFoundPath()
    if (handler === 'not allowed') {
      const isNameless = what.target!.resource.isCustom && name === '' && what.method === 'PUT'
      throw isNameless ? badRequest('name must be provided') : methodNotAllowed()
    }
    const rules = { gates: parts.gates, now: parts.clock.now(), user }
    const body = audit ? audit.body(what.method, sent) : sent
    const note = noteOf(audit)
    if (what.target!.resource.deprecationWarning) warnings.push(what.target!.resource.deprecationWarning)
    const asked: ResourceRequest = {
      server: parts,
      target: what.target!,
      namespace,
      name,
      subresource,
      query,
      user,
      userAgent,
      body,
      warnings,
      note,
      rules,
      turns,
      signal,
    }
    const notes: NotesTurns = {}
    const handled = body === noBody ? inOneTurn(notes, 'read', () => handler(asked)) : handler(asked)
    if (notes.longTurn) this.#context.longTurns.tell(notes.longTurn, kindOf(what.method, what), user, 0)
    const answered = what.target!.resource.conversion ? shownResult(what.target!, handled) : handled
    return body === noBody || !(answered instanceof Promise)
      ? answered
      : this.#untilAnswered(answered, what, user, body)
  }

  async #untilAnswered(answered: Promise<Result>, what: What, user: UserInfo, body: RequestBody): Promise<Result> {
    try {
      return await answered
    } finally {
      if (body.longTurn) this.#context.longTurns.tell(body.longTurn, kindOf(what.method, what), user, body.bytes.length)
    }
  }
}

const noteOf = (audit: AuditedRequest | undefined) => audit && ((key: string, value: string) => audit.note(key, value))

const connections = new Set(['exec', 'attach', 'portforward'])

/** The authorization attempts of a request. Opening a connection into a pod by GET also needs the verb `create`. */
function attemptsOf(what: What): readonly Attempt[] {
  const { verb, path } = what
  if (verb !== 'get' || path.group !== '' || path.plural !== 'pods' || !connections.has(path.subresource)) return [what]
  return [what, { verb: 'create', path }]
}

const isOutOfScope = ({ path, target }: What): boolean => path.inNamespace && !target!.resource.namespaced

function checkAllowed(user: UserInfo, attempt: Attempt, decision: Decision, audit: AuditedRequest | undefined): void {
  if (audit) noteDecision(audit, decision)
  if (!decision.allowed) throw forbiddenAttempt(user, attempt, decision)
}

/** Adds Kubernetes' audit annotations of the authorization decision. */
function noteDecision(audit: AuditedRequest, { allowed, reason = '' }: Decision): void {
  audit.note('authorization.k8s.io/decision', allowed ? 'allow' : 'forbid')
  audit.note('authorization.k8s.io/reason', reason)
}
