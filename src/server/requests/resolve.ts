import type { Registered, Registry } from '../registry/registry.ts'
import type { ResourcePath } from './path.ts'
import type { ResourceRequest, Result } from './request.ts'
import type { Verb } from '../registry/resource.ts'
import { create } from '../verbs/create.ts'
import { deleteCollection } from '../verbs/delete-collection.ts'
import { deleteOne } from '../verbs/delete.ts'
import { get } from '../verbs/get.ts'
import { list } from '../verbs/list.ts'
import { queryBoolean } from '../verbs/options.ts'
import { patch } from '../verbs/patch.ts'
import { getScale, writeScale } from '../verbs/scale.ts'
import { update } from '../verbs/update.ts'
import { watch } from '../verbs/watch.ts'
import { hasSubresource, partialUpdateOf } from '../write/rules.ts'
import { runAction, runVirtual } from './actions.ts'

/** Handles one kind of request. */
type Handler = (request: ResourceRequest) => Result | Promise<Result>

/** A resolved request. Authorization, metrics and dispatch all depend on it. */
export interface What {
  readonly method: string
  readonly path: ResourcePath
  readonly query: URLSearchParams
  /** Kubernetes' verb, or the method in lower case if it maps to none. */
  readonly verb: string
  /** Undefined if the kind is not served. */
  readonly target: Registered | undefined
  /** '' for the object itself, and for an unknown subresource. */
  readonly subresource: string
  /** The handler, or the reason why there is none: the path does not exist, or it does not allow the method. */
  readonly handler: Handler | 'not found' | 'not allowed'
}

const handlers: Record<Verb, Handler> = {
  create,
  delete: deleteOne,
  deletecollection: deleteCollection,
  get,
  list,
  patch,
  update,
  watch,
}

const scaleHandlers = new Map<string, Handler>([
  ['get', getScale],
  ['update', (request) => writeScale(request, 'update')],
  ['patch', (request) => writeScale(request, 'patch')],
])

const objectVerbs = new Map<string, Verb>([
  ['GET', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
])

/** The verb of a method on a collection (`name` is '') or an object. Undefined if there is none. */
export function verbOf(method: string, name: string, query: URLSearchParams): Verb | undefined {
  if (name !== '') return objectVerbs.get(method)
  if (method === 'GET') return isWatch(query) ? 'watch' : 'list'
  return method === 'POST' ? 'create' : method === 'DELETE' ? 'deletecollection' : undefined
}

/** `watch=` without a value means true. */
const isWatch = (query: URLSearchParams): boolean => query.has('watch') && queryBoolean(query, 'watch')

/** Resolves a request for a resource: its kind, verb, subresource and handler. */
export function resolve(method: string, path: ResourcePath, query: URLSearchParams, registry: Registry): What {
  if (path.isOldWatch) query.set('watch', 'true')
  const target = registry.find(path.apiVersion, path.plural)
  const verb = path.subresource === '' ? verbOf(method, path.name, query) : subresourceVerb(method)
  const found = target ? handlerOf(target, path, verb) : 'not found'
  return {
    method,
    path,
    query,
    verb: verb ?? method.toLowerCase(),
    target,
    subresource: target && hasSubresource(target, path.subresource) ? path.subresource : '',
    handler: method === 'HEAD' && target ? 'not allowed' : found,
  }
}

const subresourceVerb = (method: string): Verb | undefined => (method === 'POST' ? 'create' : objectVerbs.get(method))

function handlerOf(target: Registered, path: ResourcePath, verb: Verb | undefined): What['handler'] {
  const { namespaced, virtual } = target.resource
  // Cluster-scoped kinds do not exist under a namespace.
  if (path.inNamespace && !namespaced) return 'not found'
  if (path.subresource !== '') return subresourceHandler(target, path, verb)
  const isAcross = namespaced && path.namespace === ''
  // Across namespaces, only the collection exists.
  if (isAcross && path.name !== '') return 'not found'
  if (virtual) return virtualHandler(target, path, verb)
  if (isAcross && verb !== 'list' && verb !== 'watch') return 'not allowed'
  return verb && target.verbs.has(verb) ? handlers[verb] : 'not allowed'
}

function virtualHandler(target: Registered, path: ResourcePath, verb: Verb | undefined): What['handler'] {
  // A kind that only allows create has no named objects and no list across namespaces.
  const isMisplaced = path.name !== '' || path.inNamespace !== target.resource.namespaced
  if (isMisplaced && !target.verbs.has('get')) return 'not found'
  return verb && target.verbs.has(verb) ? runVirtual : 'not allowed'
}

function subresourceHandler(target: Registered, path: ResourcePath, verb: Verb | undefined): What['handler'] {
  if (target.resource.namespaced && path.namespace === '') return 'not found'
  const action = target.actions.get(path.subresource)
  if (action)
    return verb && (action.verbs as readonly string[]).includes(verb)
      ? (request) => runAction(request, action, verb)
      : 'not allowed'
  if (path.subresource === 'scale' && target.resource.scale) return (verb && scaleHandlers.get(verb)) || 'not allowed'
  const partial = partialUpdateOf(target, path.subresource)
  if (!partial) return 'not found'
  const verbs: readonly string[] = partial.verbs ?? ['get', 'patch', 'update']
  return verb && verbs.includes(verb) ? handlers[verb] : 'not allowed'
}
