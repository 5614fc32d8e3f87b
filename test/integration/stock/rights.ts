import type { KubeObject } from '../../../src/api/object.ts'
import { ApiError } from '../../../src/api/errors.ts'
import { type ApiRequest, type Transport, TransportError, type WatchListener } from '../../../src/client/index.ts'
import type { Manifest } from '../../../src/cluster/manifests/index.ts'
import type { Rule } from '../../../src/cluster/manifests/roles.ts'

/** A permission that a rule grants, or that a request used. */
export interface Right {
  verb: string
  /** For example `statefulsets.apps/status`. */
  resource: string
  /** The namespace of a request, or the only one in which a grant is valid. */
  namespace?: string | undefined
  /** The name of the object of a request (also of a watch of one object), or the only one for which a grant is valid. */
  name?: string | undefined
}

export const resourceText = (group: string | undefined, resource = '', subresource = ''): string =>
  `${resource}${group ? `.${group}` : ''}${subresource ? `/${subresource}` : ''}`

/** For example `watch leases.coordination.k8s.io in coxswain-system named coxswain-publisher`. */
export const textOf = ({ verb, resource, namespace, name }: Right): string =>
  `${verb} ${resource}${namespace ? ` in ${namespace}` : ''}${name ? ` named ${name}` : ''}`

/** Reports whether a grant allows what a request needs. */
export const allows = (grant: Right, used: Right): boolean =>
  grant.verb === used.verb && grant.resource === used.resource &&
  (grant.namespace === undefined || grant.namespace === used.namespace) && (grant.name === undefined || grant.name === used.name)

/** The permissions in the roles among the objects of a manifest. */
export const rightsIn = (objects: readonly Manifest[]): Right[] =>
  objects.filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole').flatMap(({ metadata: { namespace }, rules }) =>
    (rules as Rule[]).flatMap(({ apiGroups, resources, verbs: granted, resourceNames = [undefined] }) =>
      apiGroups.flatMap((group) => resources.flatMap((plural) => granted.flatMap((verb) => resourceNames.map((name) => {
        const [resource, subresource] = plural.split('/')
        return { verb, resource: resourceText(group, resource, subresource), namespace, name }
      }))))))

/** The only object that a list or watch selects, which may be granted by its name. */
export const selectedName = (fieldSelector: string | null | undefined): string | undefined => /^metadata\.name=([^,]+)$/.exec(fieldSelector ?? '')?.[1]

const verbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

/** The right that a request needs; `create` besides `patch` for an apply that makes the object. */
function rightOf({ method, path, query }: ApiRequest, isWatch: boolean): Right | undefined {
  const [, group, namespace, namespaced, cluster] = /^\/(?:api|apis\/([^/]+))\/[^/]+\/(?:namespaces\/([^/]+)\/(.+)|(.+))$/.exec(path) ?? []
  const [resource, name, subresource] = (namespaced ?? cluster ?? '').split('/')
  if (!resource) return undefined
  const verb = isWatch ? 'watch' : method === 'GET' ? (name ? 'get' : 'list') : verbs[method]!
  return { verb, resource: resourceText(group, resource, subresource), namespace, name: name ?? selectedName(query?.['fieldSelector']) }
}

/** Notes which rights are used and which are missing, and loses the first answer to each sort of write. */
export class NotedTransport implements Transport {
  readonly #inner: Transport
  readonly #used = new Map<string, Right>()
  readonly refused = new Set<string>()
  readonly #lost = new Set<string>()

  constructor(inner: Transport) {
    this.#inner = inner
  }

  get used(): Right[] {
    return [...this.#used.values()]
  }

  async send<T>(request: ApiRequest): Promise<T> {
    const right = rightOf(request, false)
    this.#use(right)
    try {
      const answer = await this.#inner.send<T>(request)
      if (right?.verb === 'patch' && !this.#lost.has(right.resource)) {
        this.#lost.add(right.resource)
        throw new TransportError('connection reset', false)
      }
      return answer
    } catch (e) {
      this.#note(e)
      throw e
    }
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    this.#use(rightOf(request, true))
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

  #use(right: Right | undefined): void {
    if (right) this.#used.set(textOf(right), right)
  }

  #note(error: unknown): void {
    if (error instanceof ApiError && error.code === 403) this.refused.add(error.message)
  }
}
