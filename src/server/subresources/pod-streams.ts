import { ApiError, badRequest, invalidObject, notFound } from '../../api/errors.ts'
import type { Node, Pod } from '../../api/generated/types.ts'
import { type FieldError, forbidden, invalid } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import { hasContainer } from '../../api/kinds/visit-containers.ts'
import type { Action, ActionAnswer, ActionContext } from './action.ts'

function findPod(ctx: ActionContext): Pod {
  const pod = ctx.objects.get<Pod>('', 'pods', ctx.namespace, ctx.name)
  if (!pod) throw notFound({ group: '', resource: 'pods' }, ctx.name)
  return pod
}

/** The container that is meant: the only one, or the one named. */
function containerOf(pod: Pod, asked: string): string {
  const { name = '' } = pod.metadata
  if (asked) {
    if (!hasContainer(pod.spec, asked)) throw badRequest(`container ${asked} is not valid for pod ${name}`)
    return asked
  }
  const containers = pod.spec.containers ?? []
  if (containers.length === 1) return containers[0]!.name
  const names = containers.map((container) => container.name).join(' ')
  const inits = (pod.spec.initContainers ?? []).map((container) => container.name).join(' ')
  const choice = containers.length === 0 ? '' : `, choose one of: [${names}]${inits ? ` or one of the init containers: [${inits}]` : ''}`
  throw badRequest(`a container name must be specified for pod ${name}${choice}`)
}

const agentPort = 10250
const addressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']

/** Nothing listens on nodes yet: what a client hears when the node's agent cannot be reached. */
function unreachable(ctx: ActionContext, pod: Pod, path: string): ApiError {
  const node = ctx.objects.get<Node>('', 'nodes', '', pod.spec.nodeName!)
  if (!node) return notFound({ group: '', resource: 'pods' }, pod.spec.nodeName!)
  const addresses = node.status?.addresses ?? []
  const address = addressTypes.map((type) => addresses.find((a) => a.type === type)?.address).find((a) => a !== undefined)
  if (!address) {
    return new ApiError(500, '', `no preferred addresses found; known addresses: [${addresses.map((a) => a.address).join(' ')}]`)
  }
  const host = `${address}:${node.status?.daemonEndpoints?.kubeletEndpoint?.Port || agentPort}`
  return new ApiError(500, '', `Get "https://${host}/${path}": dial tcp ${host}: connect: connection refused`)
}

const integerParameters = ['tailLines', 'limitBytes', 'sinceSeconds'] as const

function logOptionErrors(query: URLSearchParams): FieldError[] {
  const errors: FieldError[] = []
  const value = (name: (typeof integerParameters)[number]) => (query.get(name) ? Number(query.get(name)) : undefined)
  const [tailLines, limitBytes, sinceSeconds] = integerParameters.map(value)
  if (tailLines !== undefined && tailLines < 0) {
    errors.push(invalid(Path.of('tailLines'), tailLines, 'must be greater than or equal to 0'))
  }
  if (limitBytes !== undefined && limitBytes < 1) errors.push(invalid(Path.of('limitBytes'), limitBytes, 'must be greater than 0'))
  if (sinceSeconds !== undefined && query.get('sinceTime')) {
    errors.push({ ...forbidden(Path.of('sinceTime'), 'at most one of `sinceTime` or `sinceSeconds` may be specified'), field: '[]' })
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.push(invalid(Path.of('sinceSeconds'), sinceSeconds, 'must be greater than 0'))
  }
  const stream = query.get('stream')
  if (stream && stream !== 'All') errors.push(forbidden(Path.of('stream'), 'may not be specified'))
  return errors
}

/** GET pods/NAME/log. A pod that has no node has written nothing. */
export const podLog: Action = {
  of: { group: '', plural: 'pods', subresource: 'log' },
  verbs: ['get'],
  kind: { group: '', version: 'v1', kind: 'Pod' },
  async run(ctx): Promise<ActionAnswer> {
    const errors = logOptionErrors(ctx.query)
    if (errors.length) throw invalidObject({ group: '', kind: 'PodLogOptions' }, ctx.name, errors)
    const pod = findPod(ctx)
    const container = containerOf(pod, ctx.query.get('container') ?? '')
    if (!pod.spec.nodeName) return { code: 204, text: '' }
    throw unreachable(ctx, pod, `containerLogs/${ctx.namespace}/${ctx.name}/${container}`)
  },
}

/** A connection into a pod: exec, attach, portforward. */
function stream(subresource: string, kind: string, namesContainer: boolean): Action {
  return {
    of: { group: '', plural: 'pods', subresource },
    verbs: ['create', 'get'],
    kind: { group: '', version: 'v1', kind },
    async run(ctx): Promise<ActionAnswer> {
      const pod = findPod(ctx)
      const container = namesContainer ? containerOf(pod, ctx.query.get('container') ?? '') : ''
      if (!pod.spec.nodeName) throw badRequest(`pod ${ctx.name} does not have a host assigned`)
      const place = [subresource.replace('portforward', 'portForward'), ctx.namespace, ctx.name, container].filter((part) => part !== '')
      throw unreachable(ctx, pod, place.join('/'))
    },
  }
}

export const podExec = stream('exec', 'PodExecOptions', true)
export const podAttach = stream('attach', 'PodAttachOptions', true)
export const podPortForward = stream('portforward', 'PodPortForwardOptions', false)
