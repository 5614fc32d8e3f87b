import { methodNotAllowed, notFoundPath, serviceUnavailable } from '../api/errors.ts'
import { dispatch, fitsScope } from './dispatch.ts'
import type { UserInfo } from './objects.ts'
import type { ResourcePath } from './request-info.ts'
import type { RequestBody, Result, ServerParts } from './request.ts'
import { checkTimeout } from './verbs/list-options.ts'

/** Kinds that are answered and never stored. */
export interface VirtualResources {
  /** Nothing where there is no such kind. */
  run(path: ResourcePath, request: VirtualRequest): Promise<Result> | undefined
}

export interface VirtualRequest {
  method: string
  query: URLSearchParams
  body: RequestBody
  user: UserInfo
  warnings: string[]
  signal(): AbortSignal
}

/** A request for a resource, however it came. */
export interface ResourceCall {
  method: string
  path: ResourcePath
  query: URLSearchParams
  user: UserInfo
  /** Sentences for whoever sent it are added here. */
  warnings: string[]
  signal(): AbortSignal
  /** What else has to be fine before the body is read; for stored kinds only. */
  check?(): void
  readBody(): Promise<RequestBody> | RequestBody
}

export interface CallContext {
  parts: ServerParts
  virtual: VirtualResources
  hasGroup(group: string): Promise<boolean>
  /** Why the store can no longer be followed, if so: what is known of it may be out of date, so nothing of it is served. */
  lost(): Error | undefined
}

const noBody: RequestBody = { bytes: Buffer.alloc(0), contentType: undefined }

/** Takes requests to what answers them. It knows nothing of sockets, nor of how an answer is encoded. */
export class ResourceCalls {
  readonly #context: CallContext

  constructor(context: CallContext) {
    this.#context = context
  }

  /** Nothing where the path's API group does not exist. */
  async run(call: ResourceCall): Promise<Result | undefined> {
    const { parts, virtual } = this.#context
    const { method, path, query, user, warnings, signal } = call
    const lost = this.#context.lost()
    if (lost) throw serviceUnavailable(`the store can no longer be followed: ${lost.message}`)
    if (path.isOldWatch) query.set('watch', 'true')
    const target = parts.registry.find(path.apiVersion, path.plural)
    if (!target) {
      const sent = call.readBody()
      const body = sent instanceof Promise ? await sent : sent
      const run = virtual.run(path, { method, query, body, user, warnings, signal })
      if (run) return run
      if (!(await this.#context.hasGroup(path.group))) return undefined
      throw notFoundPath()
    }
    if (!fitsScope(target, path.inNamespace)) throw notFoundPath()
    if (method === 'HEAD') throw methodNotAllowed()
    call.check?.()
    checkTimeout(query)
    const { namespace, name, subresource } = path
    const sent = method === 'GET' ? noBody : call.readBody()
    // A body that is there is read before the call returns: its sender may change it then.
    const body = sent instanceof Promise ? await sent : sent
    const rules = { gates: parts.gates, now: parts.clock.now() }
    return dispatch({ server: parts, target, namespace, name, subresource, query, user, body, warnings, rules, retriesConflicts: false, signal }, method)
  }
}
