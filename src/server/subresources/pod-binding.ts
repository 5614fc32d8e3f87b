import { ApiError, badRequest, conflict } from '../../api/errors.ts'
import type { Binding, Node, Pod } from '../../api/generated/types.ts'
import { setPodCondition } from '../../api/kinds/pods/pod-prepare.ts'
import type { Objects } from '../objects/objects.ts'
import { type ActionAnswer, type ActionContext, defineVirtual } from '../registry/resource.ts'
import { pods } from '../resources/core/pods.ts'
import type { Action } from './action.ts'

export const success = (code: number): ActionAnswer => ({
  code,
  object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code },
})

const topologyLabels = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region']

/** The topology labels of a node, which binding copies to the pod. */
function topologyOf(objects: Objects, nodeName: string): Record<string, string> {
  const labels = objects.get<Node>('', 'nodes', '', nodeName)?.metadata.labels ?? {}
  return Object.fromEntries(topologyLabels.filter((key) => labels[key] !== undefined).map((key) => [key, labels[key]!]))
}

/** As in Kubernetes, these errors have no reason. */
function checkTarget({ target }: Binding): void {
  const problems: string[] = []
  if (target?.kind && target.kind !== 'Node') {
    problems.push(`target.kind: Unsupported value: ${JSON.stringify(target.kind)}: supported values: "Node", "<empty>"`)
  }
  if (!target?.name) problems.push('target.name: Required value')
  if (problems.length) throw new ApiError(500, '', problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`)
}

/** Checks the uid and resourceVersion of the binding against the pod. */
function checkPreconditions(pod: Pod, binding: Binding): void {
  const { name = '', namespace = '' } = pod.metadata
  const refuse = (what: string, sent: string, stored: string) => {
    const why = `Precondition failed: ${what} in precondition: ${sent}, ${what} in object meta: ${stored}`
    const error = `StorageError: invalid object, Code: 4, Key: /registry/pods/${namespace}/${name}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`
    throw conflict({ group: '', resource: 'pods' }, name, error)
  }
  const { uid, resourceVersion } = binding.metadata
  if (uid && uid !== pod.metadata.uid) refuse('UID', uid, pod.metadata.uid ?? '')
  if (resourceVersion && resourceVersion !== pod.metadata.resourceVersion) {
    refuse('ResourceVersion', resourceVersion, pod.metadata.resourceVersion ?? '')
  }
}

/** Describes why a pod cannot be bound; undefined if it can. */
function obstacle(pod: Pod): string | undefined {
  const { name } = pod.metadata
  if (pod.metadata.deletionTimestamp) return `pod ${name} is being deleted, cannot be assigned to a host`
  if (pod.spec.nodeName) return `pod ${name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`
  if (pod.spec.schedulingGates?.length) return `pod ${name} has non-empty .spec.schedulingGates`
  return undefined
}

/** Sets a pod's node name, copies the binding's annotations and sets the PodScheduled condition. */
async function bindPod(ctx: ActionContext, name: string): Promise<ActionAnswer> {
  const binding = ctx.body as Binding
  checkTarget(binding)
  const nodeName = binding.target.name!
  const labels = { ...binding.metadata.labels, ...topologyOf(ctx.objects, nodeName) }
  const bind = (pod: Pod): Pod => {
    checkPreconditions(pod, binding)
    const why = obstacle(pod)
    if (why) throw conflict({ group: '', resource: 'pods/binding' }, name, why)
    pod.spec.nodeName = nodeName
    if (binding.metadata.annotations)
      pod.metadata.annotations = { ...pod.metadata.annotations, ...binding.metadata.annotations }
    if (Object.keys(labels).length) pod.metadata.labels = { ...pod.metadata.labels, ...labels }
    setPodCondition(pod, { type: 'PodScheduled', status: 'True' }, ctx.rules.now)
    delete pod.status.nominatedNodeName
    return pod
  }
  await ctx.objects.update<Pod>(pods, ctx.namespace, name, bind, { dryRun: ctx.dryRun })
  return success(201)
}

/** POST pods/NAME/binding: the scheduler's decision. */
export const podBinding: Action = {
  of: { group: '', plural: 'pods', subresource: 'binding' },
  verbs: ['create'],
  kind: { group: '', version: 'v1', kind: 'Binding' },
  bodyType: 'Binding',
  run(ctx) {
    if (ctx.body?.metadata.name !== ctx.name) throw badRequest('name in URL does not match name in Binding object')
    return bindPod(ctx, ctx.name)
  },
}

/** POST bindings: the legacy form, in which only the body names the pod. */
export const bindings = defineVirtual({
  group: '',
  version: 'v1',
  kind: 'Binding',
  plural: 'bindings',
  namespaced: true,
  verbs: ['create'],
  bodyType: 'Binding',
  answer: (ctx) => bindPod(ctx, ctx.body?.metadata.name ?? ''),
})
