import { badRequest, invalidObject, notFound } from '../../api/errors.ts'
import type { Node, Pod } from '../../api/generated/types.ts'
import { type FieldError, forbidden, invalid } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import { hasContainer } from '../../api/kinds/containers/visit-containers.ts'
import { nodeAddress } from '../http/node/node-address.ts'
import { queryBoolean } from '../verbs/options.ts'
import { queryInteger } from '../verbs/options.ts'
import type { ActionAnswer, ActionContext, NodePlace } from '../registry/resource.ts'
import type { Action } from './action.ts'

function findPod(ctx: ActionContext): Pod {
  const pod = ctx.objects.get<Pod>('', 'pods', ctx.namespace, ctx.name)
  if (!pod) throw notFound({ group: '', resource: 'pods' }, ctx.name)
  return pod
}

/** The requested container, or the only one. */
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
  const choice =
    containers.length === 0
      ? ''
      : `, choose one of: [${names}]${inits ? ` or one of the init containers: [${inits}]` : ''}`
  throw badRequest(`a container name must be specified for pod ${name}${choice}`)
}

/** The address and path at the agent of the pod's node. */
function placeOf(
  ctx: ActionContext,
  pod: Pod,
  { path, query, isConnection }: { path: string; query: URLSearchParams; isConnection: boolean },
): NodePlace {
  const node = ctx.objects.get<Node>('', 'nodes', '', pod.spec.nodeName!)
  if (!node) throw notFound({ group: '', resource: 'pods' }, pod.spec.nodeName!)
  const asked = query.toString()
  return { ...nodeAddress(node, path), path: `/${path}${asked ? `?${asked}` : ''}`, isConnection }
}

const logParameters = [
  'follow',
  'previous',
  'sinceSeconds',
  'sinceTime',
  'timestamps',
  'tailLines',
  'limitBytes',
  'stream',
]

function only(query: URLSearchParams, names: readonly string[]): URLSearchParams {
  return new URLSearchParams([...query].filter(([name, value]) => names.includes(name) && value !== ''))
}

const integerParameters = ['tailLines', 'limitBytes', 'sinceSeconds'] as const

function logOptionErrors(query: URLSearchParams): FieldError[] {
  const errors: FieldError[] = []
  const [tailLines, limitBytes, sinceSeconds] = integerParameters.map((name) => queryInteger(query, name))
  if (tailLines !== undefined && tailLines < 0) {
    errors.push(invalid(Path.of('tailLines'), tailLines, 'must be greater than or equal to 0'))
  }
  if (limitBytes !== undefined && limitBytes < 1)
    errors.push(invalid(Path.of('limitBytes'), limitBytes, 'must be greater than 0'))
  if (sinceSeconds !== undefined && query.get('sinceTime')) {
    errors.push({
      ...forbidden(Path.of('sinceTime'), 'at most one of `sinceTime` or `sinceSeconds` may be specified'),
      field: '[]',
    })
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.push(invalid(Path.of('sinceSeconds'), sinceSeconds, 'must be greater than 0'))
  }
  const stream = query.get('stream')
  if (stream && stream !== 'All') errors.push(forbidden(Path.of('stream'), 'may not be specified'))
  return errors
}

/** GET pods/NAME/log. The log of a pod without a node is empty. */
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
    return {
      relay: placeOf(ctx, pod, {
        path: `containerLogs/${ctx.namespace}/${ctx.name}/${container}`,
        query: only(ctx.query, logParameters),
        isConnection: false,
      }),
    }
  },
}

/** Declares a streaming subresource: exec, attach, portforward. */
function stream(
  subresource: string,
  kind: string,
  namesContainer: boolean,
  query: (asked: URLSearchParams) => URLSearchParams,
): Action {
  return {
    of: { group: '', plural: 'pods', subresource },
    verbs: ['create', 'get'],
    kind: { group: '', version: 'v1', kind },
    connectOptions: (asked) => ({ kind, ...connectOptions(asked) }),
    async run(ctx): Promise<ActionAnswer> {
      const pod = findPod(ctx)
      const container = namesContainer ? containerOf(pod, ctx.query.get('container') ?? '') : ''
      if (!pod.spec.nodeName) throw badRequest(`pod ${ctx.name} does not have a host assigned`)
      const place = [subresource.replace('portforward', 'portForward'), ctx.namespace, ctx.name, container].filter(
        (part) => part !== '',
      )
      return { relay: placeOf(ctx, pod, { path: place.join('/'), query: query(ctx.query), isConnection: true }) }
    },
  }
}

/** Decodes PodExecOptions, PodAttachOptions or PodPortForwardOptions from a query. */
function connectOptions(asked: URLSearchParams): Record<string, unknown> {
  const flags = [...nodeNames.keys()]
    .filter((name) => asked.has(name) && queryBoolean(asked, name))
    .map((name) => [name, true])
  const container = asked.get('container')
  const command = asked.getAll('command')
  const ports = asked
    .getAll('ports')
    .flatMap((list) => list.split(','))
    .map(Number)
  return {
    ...Object.fromEntries(flags),
    ...(container ? { container } : {}),
    ...(command.length ? { command } : {}),
    ...(ports.length ? { ports } : {}),
  }
}

/** The names of streams on the node. */
const nodeNames = new Map([
  ['stdin', 'input'],
  ['stdout', 'output'],
  ['stderr', 'error'],
  ['tty', 'tty'],
])

function commandQuery(asked: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, inNode] of nodeNames) if (asked.has(name) && queryBoolean(asked, name)) query.set(inNode, '1')
  for (const word of asked.getAll('command')) query.append('command', word)
  return query
}

const portQuery = (asked: URLSearchParams) =>
  new URLSearchParams(asked.getAll('ports').map((port): [string, string] => ['port', port]))

export const podExec = stream('exec', 'PodExecOptions', true, commandQuery)
export const podAttach = stream('attach', 'PodAttachOptions', true, commandQuery)
export const podPortForward = stream('portforward', 'PodPortForwardOptions', false, portQuery)
