import {
  ApiError,
  badRequest,
  conflict,
  forbiddenError,
  isConflict,
  isNotFound,
  notFound,
  tooManyRequests,
} from '../../api/errors.ts'
import type { Condition, Eviction, Pod, PodDisruptionBudget } from '../../api/generated/types.ts'
import { isPodFinished } from '../../api/kinds/pods/pod-availability.ts'
import { setPodCondition } from '../../api/kinds/pods/pod-prepare.ts'
import { timestamp } from '../../api/object.ts'
import { labelSelectorMatches } from '../../api/selectors/label-selector.ts'
import type { DeleteOptions } from '../objects/objects.ts'
import { pods } from '../resources/core/pods.ts'
import { poddisruptionbudgets } from '../resources/policy/poddisruptionbudgets.ts'
import type { ActionAnswer, ActionContext } from '../registry/resource.ts'
import type { Action } from './action.ts'
import { success } from './pod-binding.ts'

const refusal = "Cannot evict pod as it would violate the pod's disruption budget."
const maxDisruptedPods = 2000
const retrySeconds = 10
const maxAttempts = 20

const cause = (message: string) => [{ reason: 'DisruptionBudget', message }]

const stillProcessed = (budget: string) =>
  tooManyRequests(
    refusal,
    retrySeconds,
    cause(`The disruption budget ${budget} is still being processed by the server.`),
  )

/** True for a pod whose eviction is no disruption. */
const isPastDisruption = (pod: Pod): boolean =>
  isPodFinished(pod) || pod.status.phase === 'Pending' || pod.metadata.deletionTimestamp !== undefined

const isReady = (pod: Pod): boolean =>
  pod.status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false

function budgetsOf(ctx: ActionContext, pod: Pod): PodDisruptionBudget[] {
  return ctx.objects
    .list<PodDisruptionBudget>('policy', 'poddisruptionbudgets', ctx.namespace)
    .filter((budget) => labelSelectorMatches(budget.spec.selector, pod.metadata.labels))
}

/**
 * True if an unready pod may be evicted without the budget: by unhealthyPodEvictionPolicy, or when enough pods are
 * healthy.
 */
function mayGoUnhealthy(budget: PodDisruptionBudget, pod: Pod): boolean {
  if (isReady(pod)) return false
  if (budget.spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  const { currentHealthy = 0, desiredHealthy = 0 } = budget.status
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy
}

/** Throws an error if the budget allows no eviction now. */
function checkBudget(budget: PodDisruptionBudget): void {
  const name = budget.metadata.name ?? ''
  const {
    observedGeneration = 0,
    disruptionsAllowed = 0,
    disruptedPods = {},
    desiredHealthy = 0,
    currentHealthy = 0,
    conditions,
  } = budget.status
  if (observedGeneration < (budget.metadata.generation ?? 0)) throw stillProcessed(name)
  const about = { group: 'policy', resource: 'poddisruptionbudget' }
  if (disruptionsAllowed < 0) throw forbiddenError(about, name, 'pdb disruptions allowed is negative')
  if (Object.keys(disruptedPods).length > maxDisruptedPods) {
    throw forbiddenError(about, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller')
  }
  if (disruptionsAllowed > 0) return
  const failed = conditions?.find(
    (c) => c.type === 'DisruptionAllowed' && c.status === 'False' && c.reason === 'SyncFailed',
  )
  const why = failed
    ? `does not allow evicting pods currently because it failed sync: ${failed.message}`
    : `needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
  throw tooManyRequests(refusal, 0, cause(`The disruption budget ${name} ${why}`))
}

function noteExhausted(budget: PodDisruptionBudget, now: number): void {
  const conditions = (budget.status.conditions ??= [])
  const i = conditions.findIndex((c) => c.type === 'DisruptionAllowed')
  const old = conditions[i]
  const next: Condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'InsufficientPods',
    message: '',
    observedGeneration: budget.status.observedGeneration,
    lastTransitionTime: old?.status === 'False' ? old.lastTransitionTime : timestamp(now),
  }
  if (i < 0) conditions.push(next)
  else conditions[i] = next
}

/** Takes one disruption from the budget, or throws. */
async function spend(ctx: ActionContext, budgetName: string, pod: string): Promise<void> {
  await ctx.objects.update<PodDisruptionBudget>(
    poddisruptionbudgets,
    ctx.namespace,
    budgetName,
    (budget) => {
      checkBudget(budget)
      budget.status.disruptionsAllowed = (budget.status.disruptionsAllowed ?? 0) - 1
      if (budget.status.disruptionsAllowed === 0) noteExhausted(budget, ctx.rules.now)
      budget.status.disruptedPods = { ...budget.status.disruptedPods, [pod]: timestamp(ctx.rules.now) }
      return budget
    },
    { dryRun: ctx.dryRun, isStatus: true },
  )
}

/** Sets the pod's DisruptionTarget condition, and deletes the pod. */
async function markAndDelete(ctx: ActionContext, options: DeleteOptions, dryRun: boolean): Promise<void> {
  const { namespace, name, objects } = ctx
  let preconditions = options.preconditions
  if (!dryRun) {
    const marked = await objects.update<Pod>(pods, namespace, name, (pod, stored) => {
      checkPreconditions(stored, preconditions)
      const condition = {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'EvictionByEvictionAPI',
        message: 'Eviction API: evicting',
      }
      setPodCondition(pod, condition, ctx.rules.now)
      return pod
    })
    // The condition changed the resourceVersion, so the precondition must use the new one.
    if (preconditions?.resourceVersion)
      preconditions = { ...preconditions, resourceVersion: marked.metadata.resourceVersion }
  }
  // As in Kubernetes, admission sees the eviction, and not a delete.
  await objects.delete(pods, namespace, name, { ...options, preconditions }, { dryRun, skipsAdmission: true })
}

function checkPreconditions(pod: Pod, preconditions: DeleteOptions['preconditions']): void {
  const { name = '', uid = '', resourceVersion = '' } = pod.metadata
  const about = { group: '', resource: 'Pod' }
  if (preconditions?.uid && preconditions.uid !== uid) {
    const why = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid})`
    throw conflict(about, name, `${why}. The object might have been deleted and then recreated`)
  }
  if (preconditions?.resourceVersion && preconditions.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion})`
    throw conflict(about, name, `${why}. The object might have been modified`)
  }
}

/** A dry run may be requested in the query or in the delete options; the two must not contradict each other. */
function isDryRun(ctx: ActionContext, options: DeleteOptions): boolean {
  const inside = options.dryRun ?? []
  if (inside.length && ctx.dryRun && inside.join() !== 'All') {
    throw badRequest(`Non-matching dry-run options in request and content: [All] and [${inside.join(' ')}]`)
  }
  return ctx.dryRun || inside.length > 0
}

async function evict(ctx: ActionContext, attempt = 1): Promise<ActionAnswer> {
  const { namespace, name, objects } = ctx
  const { deleteOptions } = ctx.body as Eviction
  const options = (deleteOptions ?? {}) as DeleteOptions
  const dryRun = isDryRun(ctx, options)
  const pod = objects.get<Pod>('', 'pods', namespace, name)
  if (!pod) throw notFound({ group: '', resource: 'pods' }, name)
  if (isPastDisruption(pod)) {
    const isPending = pod.status.phase === 'Pending' && !pod.metadata.deletionTimestamp
    if (!isPending || options.preconditions?.resourceVersion) {
      await markAndDelete(ctx, options, dryRun)
      return success(201)
    }
    try {
      await markAndDelete(ctx, asItIs(options, pod), dryRun)
      return success(201)
    } catch (e) {
      // After a conflict the pod may be ready, so the budget must be checked again.
      if (!isConflict(e) || attempt === maxAttempts) throw e
      return evict(ctx, attempt + 1)
    }
  }
  const budgets = budgetsOf(ctx, pod)
  if (budgets.length > 1) {
    throw new ApiError(
      500,
      '',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  }
  const [budget] = budgets
  if (budget && mayGoUnhealthy(budget, pod)) {
    await evictUnhealthy(ctx, { pod, budget: budget.metadata.name!, options, dryRun })
    return success(201)
  }
  if (budget) await spend({ ...ctx, dryRun }, budget.metadata.name!, name)
  await markAndDelete(ctx, options, dryRun)
  return success(201)
}

/** Delete options with preconditions on the pod's current state. */
const asItIs = (options: DeleteOptions, pod: Pod): DeleteOptions => ({
  ...options,
  preconditions: {
    ...options.preconditions,
    resourceVersion: options.preconditions?.resourceVersion ?? pod.metadata.resourceVersion,
  },
})

/** Evicts an unhealthy pod. The preconditions ensure that it is still unhealthy. */
async function evictUnhealthy(
  ctx: ActionContext,
  { pod, budget, options, dryRun }: { pod: Pod; budget: string; options: DeleteOptions; dryRun: boolean },
): Promise<void> {
  try {
    await markAndDelete(ctx, asItIs(options, pod), dryRun)
  } catch (e) {
    if (isConflict(e) && !options.preconditions?.resourceVersion) throw stillProcessed(budget)
    throw e
  }
}

/** POST pods/NAME/eviction: a delete that respects the pod's disruption budget. */
export const podEviction: Action = {
  of: { group: '', plural: 'pods', subresource: 'eviction' },
  verbs: ['create'],
  kind: { group: 'policy', version: 'v1', kind: 'Eviction', alsoVersions: ['policy/v1beta1'] },
  bodyType: 'Eviction',
  async run(ctx) {
    if (ctx.body?.metadata.name !== ctx.name) throw badRequest('name in URL does not match name in Eviction object')
    try {
      return await evict(ctx)
    } catch (e) {
      // The budget was deleted meanwhile, and no longer applies.
      if (isNotFound(e) && e.details?.kind === 'poddisruptionbudgets') return evict(ctx)
      throw e
    }
  },
}
