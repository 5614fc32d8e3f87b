import { methodNotAllowed, notFoundPath } from '../api/errors.ts'
import { decodeBody } from './body.ts'
import type { Registered } from './registry.ts'
import type { ResourceRequest, Result } from './request.ts'
import type { Verb } from './resource.ts'
import { type Action, resultOf } from './subresources/action.ts'
import { create } from './verbs/create.ts'
import { deleteCollection } from './verbs/delete-collection.ts'
import { deleteOne } from './verbs/delete.ts'
import { get } from './verbs/get.ts'
import { list } from './verbs/list.ts'
import { parseWriteOptions, queryBoolean } from './verbs/options.ts'
import { patch } from './verbs/patch.ts'
import { getScale, writeScale } from './verbs/scale.ts'
import { partialUpdateOf, update } from './verbs/update.ts'
import { watch } from './verbs/watch.ts'
import { admit } from './verbs/write.ts'

const run: Record<Verb, (request: ResourceRequest) => Result | Promise<Result>> = {
  create,
  delete: deleteOne,
  deletecollection: deleteCollection,
  get,
  list,
  patch,
  update,
  watch,
}

const objectVerbs = new Map<string, Verb>([['GET', 'get'], ['PUT', 'update'], ['PATCH', 'patch'], ['DELETE', 'delete']])

/** The verb that a method means on a collection or an object; undefined where it means none. */
export function verbOf(method: string, name: string, query: URLSearchParams): Verb | undefined {
  if (name !== '') return objectVerbs.get(method)
  if (method === 'GET') return isWatch(query) ? 'watch' : 'list'
  return method === 'POST' ? 'create' : method === 'DELETE' ? 'deletecollection' : undefined
}

/** `watch=` without a value means yes, too. */
const isWatch = (query: URLSearchParams): boolean => query.has('watch') && queryBoolean(query, 'watch')

/** Takes a request for a resource to the verb it asks for. */
export function dispatch(request: ResourceRequest, method: string): Result | Promise<Result> {
  const { target, subresource, name, namespace } = request
  if (subresource !== '') return dispatchSubresource(request, method)
  const verb = verbOf(method, name, request.query)
  // Across namespaces there are lists and watches only, and no object by its name alone.
  if (target.resource.namespaced && namespace === '') {
    if (name !== '') throw notFoundPath()
    if (verb !== 'list' && verb !== 'watch') throw methodNotAllowed()
  }
  if (!verb || !target.verbs.has(verb)) throw methodNotAllowed()
  return run[verb](request)
}

/** Whether a kind has a subresource of this name. */
export const hasSubresource = (target: Registered, name: string): boolean =>
  target.actions.has(name) || (name === 'scale' && target.resource.scale !== undefined) || partialUpdateOf(target, name) !== undefined

function dispatchSubresource(request: ResourceRequest, method: string): Result | Promise<Result> {
  const { target, subresource, namespace } = request
  if (target.resource.namespaced && namespace === '') throw notFoundPath()
  const action = target.actions.get(subresource)
  if (action) return runAction(request, action, method)
  if (subresource === 'scale' && target.resource.scale) {
    if (method === 'GET') return getScale(request)
    if (method === 'PUT') return writeScale(request, 'update')
    if (method === 'PATCH') return writeScale(request, 'patch')
    throw methodNotAllowed()
  }
  const partial = partialUpdateOf(target, subresource)
  if (!partial) throw notFoundPath()
  const verbs = partial.verbs ?? ['get', 'patch', 'update']
  const verb = objectVerbs.get(method)
  if (!verb || !verbs.includes(verb as 'get')) throw methodNotAllowed()
  return run[verb](request)
}

async function runAction(request: ResourceRequest, action: Action, method: string): Promise<Result> {
  const verb = method === 'GET' ? 'get' : method === 'POST' ? 'create' : undefined
  if (!verb || !action.verbs.includes(verb)) throw methodNotAllowed()
  const { server, target, subresource, namespace, name, query, user, rules, warnings, signal } = request
  const options = parseWriteOptions(query, 'CreateOptions')
  const body =
    action.bodyType && verb === 'create'
      ? await decodeBody(request.body, { ...action.kind, type: action.bodyType }, server.registry, options.fieldValidation, warnings)
      : undefined
  if (body) admit(request, { operation: 'CREATE', object: body, old: undefined, dryRun: options.dryRun })
  const answer = await action.run({
    resource: target.resource,
    subresource,
    namespace,
    name,
    query,
    body,
    user,
    dryRun: options.dryRun,
    objects: server.access,
    rules,
    warnings,
    signal,
  })
  return resultOf(answer)
}

/** Whether a path with this plural and scope exists at all: a cluster-wide kind has no place in a namespace. */
export const fitsScope = (target: Registered, inNamespace: boolean): boolean => target.resource.namespaced || !inNamespace
