import { countOf } from '../../api/printing/plural.ts'
import { conflict, conflictModified, isConflict } from '../../api/errors.ts'
import type { Clock } from '../../base/clock.ts'
import { type Client, type PatchType, type ResourceType, pods } from '../../client/index.ts'
import { CommandError } from '../../insight/failure.ts'
import { pauseOf, restartOf, undoOf } from '../../insight/workload/edit.ts'
import { type KindName, type WorkloadKind, shortName } from '../../insight/workload/kinds.ts'
import { type Workload, isConditionTrue } from '../../insight/workload/object.ts'
import { type Revision, revisionsOf } from '../../insight/workload/revisions.ts'

export const actionNames = ['scale', 'pause', 'resume', 'restart', 'undo', 'partition'] as const
export type ActionName = (typeof actionNames)[number]

/** An action requested by a user. */
export interface ActionRequest {
  action: ActionName
  /** For `scale`. */
  replicas?: number
  /** For `undo`. */
  revision?: number
  /** For `partition`: a number, or a percentage of a CloneSet. */
  partition?: number | string
}

/** A planned change: the equivalent command, and its effect. */
export interface Plan {
  command: string
  sentence: string
  /** Undefined if nothing needs to change. */
  patch?: { type: PatchType; body: unknown; subresource?: string }
}

const scalable: readonly KindName[] = ['Deployment', 'StatefulSet', 'CloneSet', 'ReplicaSet', 'ReplicationController']
const pausable: readonly KindName[] = ['Deployment', 'CloneSet', 'Job', 'CronJob']
const restartable: readonly KindName[] = ['Deployment', 'StatefulSet', 'DaemonSet', 'CloneSet']
const partitioned: readonly KindName[] = ['StatefulSet', 'CloneSet']

/** Returns the actions available for a workload in its present state. */
export function actionsOf({ kind }: WorkloadKind, object: Workload): ActionName[] {
  const { spec } = object
  const isPaused = Boolean(spec?.paused || spec?.updateStrategy?.paused || spec?.suspend)
  const isFinished = kind === 'Job' && ['Complete', 'Failed'].some((type) => isConditionTrue(object, type))
  return [
    ...(scalable.includes(kind) ? (['scale'] as const) : []),
    ...(pausable.includes(kind) && !isFinished ? [isPaused ? ('resume' as const) : ('pause' as const)] : []),
    ...(restartable.includes(kind) ? (['restart', 'undo'] as const) : []),
    ...(partitioned.includes(kind) && spec?.updateStrategy?.type !== 'OnDelete' ? (['partition'] as const) : []),
  ]
}

/** Plans an action, or throws a CommandError if it is impossible. */
export function planAction(
  kind: WorkloadKind,
  object: Workload,
  request: ActionRequest,
  revisions: readonly Revision[],
  nowMs: number,
): Plan {
  if (!actionsOf(kind, object).includes(request.action))
    throw new CommandError(`${shortName(kind, object)} has no action ${JSON.stringify(request.action)} now`)
  const command = (verb: string, flags = '') =>
    `kubectl ${verb} ${shortName(kind, object)}${flags} -n ${object.metadata.namespace}`
  const patching = (body: unknown) => command('patch', ` --type=merge -p '${JSON.stringify(body)}'`)
  /** `kubectl rollout` does not support OpenKruise's kinds. */
  const rollout = (verb: string, flags = '') =>
    kind.kind === 'CloneSet' ? command(`coxswain rollout ${verb}`, flags) : command(`rollout ${verb}`, flags)
  switch (request.action) {
    case 'scale': {
      const replicas = wholeNumber('replicas', request.replicas)
      return {
        command: command('scale', ` --replicas=${replicas}`),
        sentence: scaleText(kind.numbersOf(object).desired, replicas),
        patch: { type: 'merge', body: { spec: { replicas } }, subresource: 'scale' },
      }
    }
    case 'pause':
    case 'resume': {
      const isPause = request.action === 'pause'
      if (kind.kind === 'Job' || kind.kind === 'CronJob') {
        const body = { spec: { suspend: isPause } }
        return { command: patching(body), sentence: suspendText(kind.kind, isPause), patch: { type: 'merge', body } }
      }
      const { patch } = pauseOf(kind, object, isPause)
      const sentence = isPause
        ? 'Its rollout stops where it is, and changes of its template start none until it is resumed. Its pods keep running.'
        : 'Its rollout continues with its current template.'
      return {
        command: kind.kind === 'CloneSet' ? patching(patch!.body) : rollout(request.action),
        sentence,
        patch: patch!,
      }
    }
    case 'restart':
      return {
        command: rollout('restart'),
        sentence: replaceText(kind, object),
        patch: restartOf(kind, object, nowMs).patch!,
      }
    case 'undo': {
      const { told, patch } = undoOf(kind, object, revisions, request.revision ?? 0, 'coxswain')
      const number = request.revision ?? revisions.at(-2)?.number
      const sentence = patch
        ? `The template of revision ${number} becomes the present one. ${replaceText(kind, object)}`
        : `Nothing happens: ${told}.`
      return { command: rollout('undo', ` --to-revision=${number}`), sentence, ...(patch ? { patch } : {}) }
    }
    case 'partition':
      return partitionPlan(kind, object, request.partition, patching)
  }
}

function wholeNumber(field: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0)
    throw new CommandError(
      `${field}: Invalid value: ${JSON.stringify(value)}: must be an integer greater than or equal to 0`,
    )
  return value
}

function scaleText(from: number, to: number): string {
  if (to === from) return `It has ${countOf(from, 'replica', 'replicas')} already.`
  const change =
    to > from
      ? `${countOf(to - from, 'pod is', 'pods are')} started`
      : `${countOf(from - to, 'pod is', 'pods are')} ended`
  return `It has ${countOf(from, 'replica', 'replicas')} and will have ${to}: ${change}.`
}

const suspendText = (kind: 'Job' | 'CronJob', isPause: boolean): string =>
  kind === 'CronJob'
    ? isPause
      ? 'It starts no more Jobs until it is resumed. Running Jobs continue.'
      : 'It starts Jobs by its schedule again.'
    : isPause
      ? 'Its active pods are stopped, and new ones start when it is resumed.'
      : 'It starts pods again until it has its completions.'

/** Describes the effect of a changed template on the pods. */
function replaceText(kind: WorkloadKind, object: Workload): string {
  const { desired } = kind.numbersOf(object)
  const { updateStrategy, strategy } = (object.spec ?? {}) as {
    updateStrategy?: { type?: string }
    strategy?: { type?: string }
  }
  const type = updateStrategy?.type ?? strategy?.type
  const all = countOf(desired, 'pod is', 'pods are')
  if (type === 'OnDelete')
    return `Nothing happens to its ${countOf(desired, 'pod', 'pods')} until they are deleted by hand (OnDelete).`
  if (type === 'Recreate') return `All ${all} ended before new ones are started (Recreate).`
  return `${all} replaced step by step (${type ?? 'RollingUpdate'}).`
}

function partitionPlan(
  kind: WorkloadKind,
  object: Workload,
  value: unknown,
  patching: (body: unknown) => string,
): Plan {
  const isPercent = kind.kind === 'CloneSet' && typeof value === 'string' && /^\d{1,3}%$/.test(value)
  const partition = isPercent ? (value as string) : wholeNumber('partition', value)
  const updateStrategy = kind.kind === 'CloneSet' ? { partition } : { rollingUpdate: { partition } }
  const body = { spec: { updateStrategy } }
  const { desired } = kind.numbersOf(object)
  const kept =
    typeof partition === 'number'
      ? Math.min(partition, desired)
      : Math.ceil((Number.parseInt(partition) * desired) / 100)
  const sentence = `${countOf(desired - kept, 'pod gets', 'pods get')} the newest revision, ${kept === 0 ? 'none' : kept} ${kept === 1 ? 'keeps' : 'keep'} the old one.`
  return { command: patching(body), sentence, patch: { type: 'merge', body } }
}

/** The description of a change that the viewer has confirmed. */
export interface Confirmed {
  /** The uid of the object. An object that has been made anew under the same name has another. */
  uid: string
  sentence: string
}

/** The description of a change, to be confirmed. */
export interface Told extends Confirmed {
  command: string
}

/** Returns the confirmed description in a request; undefined for a dry run or a request of a program. */
export function confirmedIn(body: Record<string, unknown>): Confirmed | undefined {
  const { uid, sentence } = (body['confirmed'] ?? {}) as Partial<Record<keyof Confirmed, unknown>>
  return typeof uid === 'string' && typeof sentence === 'string' ? { uid, sentence } : undefined
}

/** Throws a conflict if a change is no longer the one that was confirmed. */
function checkConfirmed(type: ResourceType, name: string, told: Told, confirmed: Confirmed | undefined): void {
  if (!confirmed) return
  if (told.uid !== confirmed.uid)
    throw conflict(
      { group: type.group, resource: type.plural },
      name,
      `Precondition failed: UID in precondition: ${confirmed.uid}, UID in object meta: ${told.uid}`,
    )
  if (told.sentence !== confirmed.sentence) throw conflictModified({ group: type.group, resource: type.plural }, name)
}

/** Number of times that a change is planned again because the object was modified meanwhile. */
const mostPlans = 5

/** An action requested by a viewer. */
export interface Act {
  kind: WorkloadKind
  namespace: string
  name: string
  request: ActionRequest
  isDry: boolean
  confirmed: Confirmed | undefined
}

/**
 * Plans an action for a viewer, and executes it unless it is a dry run. An action that no longer has the confirmed
 * effect is rejected as a conflict.
 */
export async function act(
  client: Client,
  clock: Clock,
  { kind, namespace, name, request, isDry, confirmed }: Act,
): Promise<Told> {
  for (let plans = 1; ; plans++) {
    const object = await client.get(kind.type, namespace, name)
    const revisions = request.action === 'undo' ? await revisionsOf(client, kind, object) : []
    const { patch, ...plan } = planAction(kind, object, request, revisions, clock.now())
    const told = { ...plan, uid: object.metadata.uid ?? '' }
    checkConfirmed(kind.type, name, told, confirmed)
    if (!patch) return told
    try {
      // A dry run is sent to the server too, so that its refusal is shown before the confirmation.
      await client.patch(kind.type, namespace, name, isDry ? patch.body : onlyAt(object, patch), {
        type: patch.type,
        dryRun: isDry,
        ...(patch.subresource ? { subresource: patch.subresource } : {}),
      })
      return told
    } catch (e) {
      if (!isConflict(e) || plans === mostPlans) throw e
      // The status of a workload that is rolled out changes all the time. The next plan shows whether this matters.
    }
  }
}

/** Adds to a patch that the object must not have been modified. */
function onlyAt({ metadata: { resourceVersion } }: Workload, { type, body }: NonNullable<Plan['patch']>): unknown {
  if (type === 'json')
    return [...(body as object[]), { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion }]
  return { ...(body as object), metadata: { resourceVersion } }
}

/** Deletes a pod, or describes the effect. */
export async function deletePod(
  client: Client,
  namespace: string,
  name: string,
  isDry: boolean,
  confirmed: Confirmed | undefined,
): Promise<Told> {
  const pod = await client.get(pods, namespace, name)
  const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)
  const grace = pod.spec?.terminationGracePeriodSeconds ?? 30
  const after = owner ? `${owner.kind} ${owner.name} then decides whether it needs another one.` : 'It is not replaced.'
  const uid = pod.metadata.uid ?? ''
  const told = {
    command: `kubectl delete pod ${name} -n ${namespace}`,
    sentence: `Its containers have ${countOf(Number(grace), 'second', 'seconds')} to end. ${after}`,
    uid,
  }
  checkConfirmed(pods, name, told, confirmed)
  await client.delete(pods, namespace, name, { dryRun: isDry, uid })
  return told
}
