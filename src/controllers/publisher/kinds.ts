import type { PublishedKindName } from '../../api/kinds/workloads/published-kinds.ts'
import type { ResourceType } from '../../client/index.ts'
import { cloneSetController } from '../cloneset/controller.ts'
import { daemonSetController } from '../daemonset/controller.ts'
import { deploymentController } from '../deployment/controller.ts'
import { jobController } from '../job/controller.ts'
import type { AnyController } from '../kit/index.ts'
import { replicaSetController } from '../replicaset/controller.ts'
import { replicationControllerController } from '../replicationcontroller/controller.ts'
import { statefulSetController } from '../statefulset/controller.ts'
import type { RolloutState } from './workload-status.ts'

/**
 * The way in which conditions are written to the status of a workload that another controller manager owns.
 * - `apply`: by server-side apply. The list is a map by type. An owner that drops unknown types gets them again.
 * - `update`: the whole list, in the version that was read. The list is atomic, so an apply would conflict with its
 *   owner.
 * - `companion`: not at all. The owner replaces the list, or has conditions of the same types.
 */
type Way = 'apply' | 'update' | 'companion'

/** A kind of workload whose conditions are published. */
export interface PublishedKind {
  /** The controller that evaluates the workload; only its `observe`, `plan` and `status` are used. */
  controller: AnyController
  way: Way
  /** The types of the published conditions. */
  conditions: readonly string[]
  /** Fields of the computed status that the next evaluation needs. */
  state: readonly (keyof RolloutState)[]
}

const rollout = ['Available', 'Progressing']

/** Kinds by their plural name, as in flags. */
export const publishedKinds: Readonly<Record<PublishedKindName, PublishedKind>> = {
  deployments: { controller: deploymentController, way: 'companion', conditions: rollout, state: [] },
  replicasets: { controller: replicaSetController, way: 'apply', conditions: ['Available'], state: [] },
  replicationcontrollers: {
    controller: replicationControllerController,
    way: 'apply',
    conditions: ['Available'],
    state: [],
  },
  statefulsets: {
    controller: statefulSetController,
    way: 'apply',
    conditions: rollout,
    state: ['updateRevision', 'desiredReplicas', 'expectedUpdatedReplicas'],
  },
  daemonsets: {
    controller: daemonSetController,
    way: 'apply',
    conditions: rollout,
    state: ['updateRevision', 'desiredNumberScheduled'],
  },
  jobs: { controller: jobController, way: 'update', conditions: ['Waiting', 'Running'], state: [] },
  clonesets: {
    controller: cloneSetController,
    way: 'companion',
    conditions: rollout,
    state: ['updateRevision', 'desiredReplicas', 'expectedUpdatedReplicas'],
  },
}

export const typeOf = ({ controller }: PublishedKind): ResourceType => controller.owner
