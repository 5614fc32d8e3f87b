import { badRequest, methodNotAllowed, notFound, notFoundPath, serviceUnavailable } from '../../api/errors.ts'
import { turnsOf } from '../../base/clock.ts'
import type { Turns } from '../../base/turns.ts'
import type { AuditedRequest } from '../audit/index.ts'
import { type Attempt, type Decision, forbiddenAttempt } from '../auth/authorize.ts'
import type { UserInfo } from '../objects/objects.ts'
import { freshness } from './freshness.ts'
import { kindOf } from './kind.ts'
import type { LongTurns } from './long-turns.ts'
import type { RequestBody, Result, ServerParts } from './request.ts'
import { checkTimeout } from '../verbs/list-options.ts'
import { type ProxyPath, parseProxyId } from '../proxy/proxy-path.ts'
import { admitConnection } from '../write/connect.ts'
import { shownResult } from '../verbs/shown.ts'
import { groupResource } from '../write/names.ts'
import { systemRequest } from './system-request.ts'
import type { What } from './resolve.ts'

/** A request for a resource, however it came. */
export interface Call {
  what: What
  user: UserInfo
  userAgent?: string | undefined
  /** Sentences for whoever sent it are added here. */
  warnings: string[]
  /** How what takes long is done; as for anybody in this process where nothing is said. */
  turns?: Turns
  /** Records the request, where requests are audited. */
  audit?: AuditedRequest | undefined
  signal(): AbortSignal
  /** What else has to be fine before the body is read: that its sender can be answered in a form it takes. */
  check?(): void
  readBody(): Promise<RequestBody> | RequestBody
  /** Makes the body outlast a wait; it may be its sender's own, to be changed as soon as the call returns. */
  keepBody?(): void
}

export interface ServeContext {
  parts: ServerParts
  hasGroup(group: string): Promise<boolean>
  /** Why the store can no longer be followed, if so: what is known of it may be out of date, so nothing of it is served. */
  lost(): Error | undefined
  longTurns: LongTurns
}

const noBody: RequestBody = { bytes: Buffer.alloc(0), contentType: undefined }

/**
 * The way of every request for a resource: who sends it and what it asks for are known; whether they may, the body, and then the
 * handler, which reads or starts a write. It knows nothing of sockets, nor of how an answer is encoded.
 */
export class RequestPath {
  readonly #context: ServeContext

  constructor(context: ServeContext) {
    this.#context = context
  }

  /** Nothing where the path's API group does not exist. */
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
    // A body that is there is decoded before the call returns: its sender may change it then.
    return this.#answer(call, sent instanceof Promise ? await sent : sent)
  }

  /** Refuses what the user may not do. It waits only where the authorizer asks another process. */
  allow(user: UserInfo, attempt: Attempt, audit?: AuditedRequest): Promise<void> | undefined {
    const asked = this.#context.parts.authorizer.authorize(user, attempt)
    if (asked instanceof Promise) return asked.then((decision) => checkAllowed(user, attempt, decision, audit))
    checkAllowed(user, attempt, asked, audit)
    return undefined
  }

  /** Asks admission about a proxied request, which is no request for an object. */
  async connect(user: UserInfo, { kind, namespace, id, rest }: ProxyPath, audit?: AuditedRequest): Promise<void> {
    const { parts } = this.#context
    const target = parts.registry.find('v1', kind)
    if (!target) return
    const request = { ...systemRequest(parts, target, namespace, parseProxyId(kind, id).name), subresource: 'proxy', user, note: noteOf(audit) }
    await admitConnection(request, { kind: `${target.resource.kind}ProxyOptions`, ...(rest ? { path: rest } : {}) })
  }

  #checkStore(): void {
    const lost = this.#context.lost()
    if (lost) throw serviceUnavailable(`the store can no longer be followed: ${lost.message}`)
  }

  async #unknown(call: Call): Promise<undefined> {
    await call.readBody()
    if (!(await this.#context.hasGroup(call.what.path.group))) return undefined
    throw notFoundPath()
  }

  #answer({ what, user, userAgent, warnings, audit, signal, turns = turnsOf(this.#context.parts.clock) }: Call, sent: RequestBody): Result | Promise<Result> {
    const { parts } = this.#context
    const { handler, path: { namespace, name, subresource }, query } = what
    if (handler === 'not found') throw what.target!.resource.isCustom ? notFound(groupResource(what.target!), name) : notFoundPath()
    if (handler === 'not allowed') {
      const isNameless = what.target!.resource.isCustom && name === '' && what.method === 'PUT'
      throw isNameless ? badRequest('name must be provided') : methodNotAllowed()
    }
    const rules = { gates: parts.gates, now: parts.clock.now(), user }
    const body = audit ? audit.body(what.method, sent) : sent
    const note = noteOf(audit)
    if (what.target!.resource.deprecationWarning) warnings.push(what.target!.resource.deprecationWarning)
    const handled = handler({
      server: parts, target: what.target!, namespace, name, subresource, query, user, userAgent, body, warnings, note, rules, turns,
      signal,
    })
    const answered = what.target!.resource.conversion ? shownResult(what.target!, handled) : handled
    return body === noBody || !(answered instanceof Promise) ? answered : this.#untilAnswered(answered, what, user, body)
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

/** What a request has to be allowed. A connection into a pod that a GET opens does what a POST does, and needs its verb as well. */
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

/** Kubernetes' audit annotations of every request that was authorized or refused. */
function noteDecision(audit: AuditedRequest, { allowed, reason = '' }: Decision): void {
  audit.note('authorization.k8s.io/decision', allowed ? 'allow' : 'forbid')
  audit.note('authorization.k8s.io/reason', reason)
}
