import type { KubeObject } from '../../../src/api/object.ts'
import { ApiError } from '../../../src/api/errors.ts'
import { type ApiRequest, type Transport, TransportError, type WatchListener } from '../../../src/client/index.ts'
import type { Rule } from '../../../src/cluster/manifests/roles.ts'

const verbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

/** A right as `verb resource.group/subresource`; `create` besides `patch` for an apply that makes the object. */
function rightOf({ method, path }: ApiRequest, isWatch: boolean): string | undefined {
  const [, group = '', namespaced, cluster] = /^\/(?:api|apis\/([^/]+))\/[^/]+\/(?:namespaces\/[^/]+\/(.+)|(.+))$/.exec(path) ?? []
  const [resource, name, subresource] = (namespaced ?? cluster ?? '').split('/')
  if (!resource) return undefined
  const verb = isWatch ? 'watch' : method === 'GET' ? (name ? 'get' : 'list') : verbs[method]!
  return `${verb} ${resource}${group ? `.${group}` : ''}${subresource ? `/${subresource}` : ''}`
}

/** The rights that rules give. */
export const rightsOf = (rules: readonly Rule[]): Set<string> =>
  new Set(rules.flatMap(({ apiGroups, resources, verbs: allowed }) => apiGroups.flatMap((group) => resources.flatMap((name) => {
    const [resource, subresource] = name.split('/')
    return allowed.map((verb) => `${verb} ${resource}${group ? `.${group}` : ''}${subresource ? `/${subresource}` : ''}`)
  }))))

/** Notes which rights are used and which are missing, and loses the first answer to each sort of write. */
export class NotedTransport implements Transport {
  readonly #inner: Transport
  readonly used = new Set<string>()
  readonly refused = new Set<string>()
  readonly #lost = new Set<string>()

  constructor(inner: Transport) {
    this.#inner = inner
  }

  async send<T>(request: ApiRequest): Promise<T> {
    const right = rightOf(request, false)
    if (right) this.used.add(right)
    try {
      const answer = await this.#inner.send<T>(request)
      if (right?.startsWith('patch ') && !this.#lost.has(right)) {
        this.#lost.add(right)
        throw new TransportError('connection reset', false)
      }
      return answer
    } catch (e) {
      this.#note(e)
      throw e
    }
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    const right = rightOf(request, true)
    if (right) this.used.add(right)
    return this.#inner.watch<T>(request, {
      opened: () => listener.opened(),
      event: (event) => listener.event(event),
      closed: (error) => {
        this.#note(error)
        listener.closed(error)
      },
    })
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  #note(error: unknown): void {
    if (error instanceof ApiError && error.code === 403) this.refused.add(error.message)
  }
}
