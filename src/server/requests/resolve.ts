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

/** Answers one kind of request. */
export type Handler = (request: ResourceRequest) => Result | Promise<Result>

/** What a request asks for, resolved once: who may send it, how it is counted and what answers it all follow from this. */
export interface What {
  readonly method: string
  readonly path: ResourcePath
  readonly query: URLSearchParams
  /** In Kubernetes' words; a method that means none of its verbs is its own name in small letters. */
  readonly verb: string
  /** Undefined where there is no such kind. */
  readonly target: Registered | undefined
  /** '' for the object itself, and where the kind has no such subresource. */
  readonly subresource: string
  /** What answers it, or why nothing does: there is no such path, or the method means nothing there. */
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

const objectVerbs = new Map<string, Verb>([['GET', 'get'], ['PUT', 'update'], ['PATCH', 'patch'], ['DELETE', 'delete']])

/** The verb that a method means on a collection or an object; undefined where it means none. */
export function verbOf(method: string, name: string, query: URLSearchParams): Verb | undefined {
  if (name !== '') return objectVerbs.get(method)
  if (method === 'GET') return isWatch(query) ? 'watch' : 'list'
  return method === 'POST' ? 'create' : method === 'DELETE' ? 'deletecollection' : undefined
}

/** `watch=` without a value means yes, too. */
const isWatch = (query: URLSearchParams): boolean => query.has('watch') && queryBoolean(query, 'watch')

/** Finds out what a request for a resource asks for. */
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
  // A cluster-wide kind has no place in a namespace.
  if (path.inNamespace && !namespaced) return 'not found'
  if (path.subresource !== '') return subresourceHandler(target, path, verb)
  const isAcross = namespaced && path.namespace === ''
  // Across namespaces there are lists and watches only, and no object by its name alone.
  if (isAcross && path.name !== '') return 'not found'
  if (virtual) return virtualHandler(target, path, verb)
  if (isAcross && verb !== 'list' && verb !== 'watch') return 'not allowed'
  return verb && target.verbs.has(verb) ? handlers[verb] : 'not allowed'
}

function virtualHandler(target: Registered, path: ResourcePath, verb: Verb | undefined): What['handler'] {
  // What can only be posted has neither objects by name nor a list across namespaces.
  const isMisplaced = path.name !== '' || path.inNamespace !== target.resource.namespaced
  if (isMisplaced && !target.verbs.has('get')) return 'not found'
  return verb && target.verbs.has(verb) ? runVirtual : 'not allowed'
}

function subresourceHandler(target: Registered, path: ResourcePath, verb: Verb | undefined): What['handler'] {
  if (target.resource.namespaced && path.namespace === '') return 'not found'
  const action = target.actions.get(path.subresource)
  if (action) return verb && (action.verbs as readonly string[]).includes(verb) ? (request) => runAction(request, action, verb) : 'not allowed'
  if (path.subresource === 'scale' && target.resource.scale) return (verb && scaleHandlers.get(verb)) || 'not allowed'
  const partial = partialUpdateOf(target, path.subresource)
  if (!partial) return 'not found'
  const verbs: readonly string[] = partial.verbs ?? ['get', 'patch', 'update']
  return verb && verbs.includes(verb) ? handlers[verb] : 'not allowed'
}
