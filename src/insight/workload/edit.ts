import { semanticEqual } from '../../api/deep-equal.ts'
import type { Int64 } from '../../api/numbers/int64.ts'
import { timestamp } from '../../api/object.ts'
import { CommandError } from '../failure.ts'
import { type WorkloadKind, quotedName } from './kinds.ts'
import type { Workload } from './object.ts'
import { withoutHash } from './own-pods.ts'
import type { Revision } from './revisions.ts'

/** A change of a workload, and its message: `deployment.apps/web restarted`. */
export interface Edit {
  told: string
  /** Undefined if nothing has to be changed. */
  patch?: { type: 'merge' | 'json'; body: unknown }
}

const nameOf = (kind: WorkloadKind, { metadata }: Workload): string => quotedName(kind, metadata.name ?? '')

const restartAnnotation = 'kubectl.kubernetes.io/restartedAt'

/** Decides a restart: another annotation of the template makes a new revision. */
export function restartOf(kind: WorkloadKind, object: Workload, nowMs: number): Edit {
  const name = nameOf(kind, object)
  const { spec } = object
  if (!['Deployment', 'StatefulSet', 'DaemonSet', 'CloneSet'].includes(kind.kind))
    throw new CommandError(`${name} restarting is not supported`)
  if (kind.kind === 'Deployment' && spec?.paused)
    throw new CommandError(`${name} can't restart paused deployment (run rollout resume first)`)
  const strategy = spec?.updateStrategy?.type ?? ''
  if (kind.kind === 'CloneSet' && strategy.startsWith('InPlace')) {
    throw new CommandError(
      `${name} is updated in place (${strategy}), where a new annotation restarts no container: ` +
        'delete its pods, or set the type ReCreate first',
    )
  }
  const at = timestamp(nowMs)
  if (spec?.template?.metadata?.annotations?.[restartAnnotation] === at) {
    throw new CommandError(
      'if restart has already been triggered within the past second, please wait before attempting to trigger another',
    )
  }
  return {
    told: 'restarted',
    patch: { type: 'merge', body: { spec: { template: { metadata: { annotations: { [restartAnnotation]: at } } } } } },
  }
}

/** Decides a pause or its end. Only Deployments and CloneSets can be paused. */
export function pauseOf(kind: WorkloadKind, object: Workload, paused: boolean): Edit {
  const name = nameOf(kind, object)
  const { spec } = object
  if (kind.kind !== 'Deployment' && kind.kind !== 'CloneSet') {
    const hint = kind.kind === 'Job' || kind.kind === 'CronJob' ? '; set spec.suspend instead' : ''
    throw new CommandError(
      `${name} ${paused ? 'pausing' : 'resuming'} is not supported: deployments and clonesets can be paused${hint}`,
    )
  }
  const isPaused = Boolean(kind.kind === 'Deployment' ? spec?.paused : spec?.updateStrategy?.paused)
  if (isPaused === paused) throw new CommandError(`${name} is ${paused ? 'already' : 'not'} paused`)
  const body = kind.kind === 'Deployment' ? { spec: { paused } } : { spec: { updateStrategy: { paused } } }
  return { told: paused ? 'paused' : 'resumed', patch: { type: 'merge', body } }
}

/** Annotations of the Deployment that a rollback keeps. */
const keptAnnotations = [
  'kubectl.kubernetes.io/last-applied-configuration',
  'deployment.kubernetes.io/revision',
  'deployment.kubernetes.io/revision-history',
  'deployment.kubernetes.io/desired-replicas',
  'deployment.kubernetes.io/max-replicas',
  'deprecated.deployment.rollback.rollbackTo',
]

/** Decides how to roll back to a revision. 0 is the one before the newest. */
export function undoOf(
  kind: WorkloadKind,
  object: Workload,
  revisions: readonly Revision[],
  toRevision: Int64,
  program: string,
): Edit {
  const { spec, metadata } = object
  const target = toRevision === 0 ? revisions.at(-2) : revisions.find(({ number }) => number === toRevision)
  if (!target) {
    if (toRevision !== 0) throw new CommandError(`unable to find specified revision ${toRevision} in history`)
    throw new CommandError(
      kind.kind === 'Deployment'
        ? `no rollout history found for deployment ${JSON.stringify(metadata.name)}`
        : 'no last revision to roll back to',
    )
  }
  if (kind.kind === 'Deployment' && spec?.paused) {
    throw new CommandError(
      'you cannot rollback a paused deployment; ' +
        `resume it first with '${program} rollout resume deployment/${metadata.name}' and try again`,
    )
  }
  if (spec?.template && semanticEqual(withoutHash(target.template), withoutHash(spec.template))) {
    return { told: `skipped rollback (current template already matches revision ${target.number})` }
  }
  const template = { op: 'replace', path: '/spec/template', value: target.template }
  if (kind.kind !== 'Deployment') return { told: 'rolled back', patch: { type: 'json', body: [template] } }
  const own = Object.entries(metadata.annotations ?? {}).filter(([key]) => keptAnnotations.includes(key))
  const restored = Object.entries(target.annotations).filter(([key]) => !keptAnnotations.includes(key))
  const annotations = { op: 'add', path: '/metadata/annotations', value: Object.fromEntries([...own, ...restored]) }
  return { told: 'rolled back', patch: { type: 'json', body: [template, annotations] } }
}
