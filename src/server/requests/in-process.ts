import { ApiError, badRequest, methodNotAllowed, notFoundPath } from '../../api/errors.ts'
import { cloneObject, deepFreeze, jsonText, readJson } from '../../api/json/index.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import { turnsOf } from '../../base/clock.ts'
import { type Turns, inSlices } from '../../base/turns.ts'
import { type Remote, callRemote } from '../aggregation/index.ts'
import type { ApiServer } from '../api-server.ts'
import type { AuditedRequest } from '../audit/index.ts'
import { answerText } from '../http/exchange/audited-exchange.ts'
import { present } from '../http/answer/encode.ts'
import type { UserInfo } from '../objects/objects.ts'
import type { Registered } from '../registry/registry.ts'
import { listKindOf } from '../registry/resource.ts'
import { parsePath } from './path.ts'
import { kindOf } from './kind.ts'
import { answeredError, isStoreTrouble } from './freshness.ts'
import type { RequestKind } from './request-metrics.ts'
import type { RequestBody, Result } from './request.ts'
import { type What, resolve } from './resolve.ts'
import type { StoredObject } from '../objects/stored-object.ts'

/** A request from a component in this process. */
export interface InProcessRequest {
  method: string
  path: string
  query?: Readonly<Record<string, string>>
  /** Owned by the caller: it is copied before the call returns. */
  body?: unknown
  contentType?: string
  /** For documents only; objects are never encoded. */
  accept?: string
  user: UserInfo
  signal?: AbortSignal
  /** Receives the texts that HTTP sends in Warning headers. */
  warn?(sentence: string): void
}

const noSignal = new AbortController().signal

/**
 * Handles a request without sockets or encoding, by the same rules as over HTTP. Returned objects are the stored ones,
 * frozen; list items carry their kind. Rejects with an ApiError.
 */
export async function callInProcess(server: ApiServer, request: InProcessRequest): Promise<unknown> {
  const remote = server.aggregator.forPath(request.path)
  if (remote) return passOn(server, remote, request)
  const path = parsePath(request.path)
  if (path.kind !== 'resource') return readDocument(server, request)
  const what = resolve(request.method, path, queryOf(request), server.parts.registry)
  const { result } = await measured(server, request, what, kindOf(request.method, what))
  return result.kind === 'list' ? listOf(result, turnsOf(server.parts.clock)) : valueOf(result)
}

/** Forwards a request to an extension API server. */
async function passOn(server: ApiServer, remote: Remote, request: InProcessRequest): Promise<unknown> {
  await allowRemote(server, request)
  return deepFreeze((await callRemote(server.aggregator.access, remote, request)) as object)
}

/** Authorizes a request to an extension API server. */
export async function allowRemote(server: ApiServer, request: InProcessRequest): Promise<void> {
  const path = parsePath(request.path)
  const attempt =
    path.kind === 'resource'
      ? resolve(request.method, path, queryOf(request), server.parts.registry)
      : { verb: request.method.toLowerCase(), url: request.path }
  await server.requests.allow(request.user, attempt)
}

/** A validated watch request. */
export interface OpenedWatch {
  kind: RequestKind
  audit: AuditedRequest | undefined
  result: Result & { kind: 'watch' }
}

/** Validates a watch request and resolves its parameters. */
export async function openInProcess(server: ApiServer, request: InProcessRequest): Promise<OpenedWatch> {
  const path = parsePath(request.path)
  if (path.kind !== 'resource') throw notFoundPath()
  const query = queryOf(request)
  query.set('watch', 'true')
  const what = resolve(request.method, path, query, server.parts.registry)
  const kind = kindOf(request.method, what)
  const { result, audit } = await measured(server, request, what, kind)
  if (result.kind !== 'watch') throw methodNotAllowed()
  return { kind, result, audit }
}

const queryOf = ({ query }: InProcessRequest) => new URLSearchParams(query)

async function run(
  server: ApiServer,
  request: InProcessRequest,
  what: What,
  audit: AuditedRequest | undefined,
): Promise<Result> {
  const { user, signal = noSignal } = request
  const warnings: string[] = []
  let kept: RequestBody | undefined
  const result = await server.requests.run({
    what,
    user,
    userAgent: agentOf(user),
    warnings,
    audit,
    signal: () => signal,
    readBody: () => kept ?? bodyOf(request),
    keepBody: () => void (kept = keptBody(request)),
  })
  if (request.warn) for (const warning of new Set(warnings)) request.warn(warning)
  if (!result) throw notFoundPath()
  return result
}

/** The user agent by which field managers are named: the last part of the user name, and `kubelet` for nodes. */
const agentOf = ({ name }: UserInfo): string =>
  name.startsWith('system:node:') ? 'kubelet' : name.slice(name.lastIndexOf(':') + 1)

/** Passes objects on as values. Patches and options are encoded, which drops undefined members. */
function bodyOf({ method, body, contentType }: InProcessRequest): RequestBody {
  const nothing = Buffer.alloc(0)
  if (body === undefined) return { bytes: nothing, contentType }
  if (method === 'POST' || method === 'PUT') return { bytes: nothing, contentType, value: body as Json }
  return { bytes: Buffer.from(jsonText(body)), contentType }
}

/** Copies the body, so that the caller may mutate its own while the request waits. */
function keptBody(request: InProcessRequest): RequestBody {
  const body = bodyOf(request)
  return body.value === undefined ? body : { ...body, value: cloneObject(body.value as object) as Json }
}

interface Measured {
  result: Result
  /** Still open if the result is a watch. */
  audit: AuditedRequest | undefined
}

type Answer = Exclude<Result, { kind: 'watch' | 'relay' }>

const thisMachine = ['127.0.0.1']

/** Begins the audit of a request from this process. */
function audited(
  server: ApiServer,
  request: InProcessRequest,
  what: What | undefined,
  startedMs: number,
): AuditedRequest | undefined {
  const { method, path, query } = request
  const search = query && Object.keys(query).length > 0 ? `?${new URLSearchParams(query).toString()}` : ''
  return server.audit?.begin({
    id: server.parts.random.uuid(),
    method,
    uri: path + search,
    path,
    what,
    startedMs,
    sourceIPs: () => thisMachine,
    userAgent: () => `coxswain/${server.release}`,
  })
}

/** Copies the body before an await. */
const withOwnBody = (request: InProcessRequest): InProcessRequest =>
  typeof request.body === 'object' && request.body !== null ? { ...request, body: cloneObject(request.body) } : request

async function measured(
  server: ApiServer,
  request: InProcessRequest,
  what: What,
  kind: RequestKind,
): Promise<Measured> {
  const { clock } = server.parts
  const started = clock.now()
  let code = 500
  let isOpen = false
  const audit = server.audit && audited(server, request, what, started)
  const recorded = audit?.identified(request.user)
  const sent = recorded ? withOwnBody(request) : request
  try {
    if (recorded) await recorded
    const result = await run(server, sent, what, audit)
    code = 'code' in result ? result.code : 200
    isOpen = result.kind === 'watch'
    if (isOpen) audit?.started(code)
    const told = audit && !isOpen ? answerText(audit, result as Answer, {}, what.query, clock) : undefined
    if (told) await told
    return { result, audit }
  } catch (e) {
    const error = answeredError(e)
    if (!(e instanceof ApiError) && !isStoreTrouble(e)) audit?.panicked(e)
    audit?.answeredStatus(error.toStatus())
    code = error.code
    throw error
  } finally {
    if (!isOpen) audit?.done(code)
    server.requestMetrics.done(kind, code, what.query.has('dryRun'), (clock.now() - started) / 1000)
  }
}

/** Items are read in slices. */
async function listOf({ target, items, meta }: Result & { kind: 'list' }, turns: Turns): Promise<unknown> {
  const list: KubeObject[] = []
  await inSlices(turns, items, (stored) => list.push(frozenObject(target, stored)))
  return Object.freeze({
    kind: listKindOf(target.resource),
    apiVersion: target.apiVersion,
    metadata: Object.freeze(meta),
    items: Object.freeze(list),
  })
}

function valueOf(result: Exclude<Result, { kind: 'list' }>): unknown {
  switch (result.kind) {
    case 'stored':
      return frozenObject(result.target, result.stored)
    case 'text':
      return result.text
    case 'value':
      return deepFreeze(result.value)
    case 'watch':
      throw badRequest('a watch is to be opened, not called')
    case 'relay':
      throw badRequest('requests to nodes are only possible over HTTP')
  }
}

/** The object in the requested version. It is the stored object itself if versions do not differ. */
export const frozenObject = (target: Registered, stored: StoredObject): KubeObject =>
  target.resource.storedAs ? deepFreeze(present(target, stored)) : stored.frozen

async function readDocument(server: ApiServer, request: InProcessRequest): Promise<unknown> {
  const { method, path, query, accept } = request
  const audit = audited(server, request, undefined, server.parts.clock.now())
  await audit?.identified(request.user)
  await server.requests.allow(request.user, { verb: method.toLowerCase(), url: path }, audit)
  const found = await server.document({
    method,
    path,
    query: new URLSearchParams(query),
    ...(accept ? { accept } : {}),
  })
  audit?.done(found?.code ?? 404)
  if (!found) throw notFoundPath()
  const text = found.body.toString()
  return found.headers['content-type']?.startsWith('application/json') ? readJson(text) : text
}
