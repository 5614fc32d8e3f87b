import type { DaemonSet, Pod } from '../../api/generated/types.ts'
import { pods } from '../../client/index.ts'
import { type Appliers, type ApplyContext, type RevisionAction, revisionAppliers } from '../kit/index.ts'
import { revisionHashLabel } from '../kit/workload/index.ts'
import { podFor } from './daemon-pod.ts'

export interface DeletePod {
  kind: 'DeletePod'
  pod: Pod
  node: string
  /** The event to emit for a pod that has finished. */
  because?: 'failed' | 'succeeded'
}

export type Action =
  | RevisionAction
  | { kind: 'AdoptPod'; pod: Pod }
  | { kind: 'ReleasePod'; pod: Pod }
  | { kind: 'CreatePod'; node: string; hash: string }
  | DeletePod

/** The pods to delete, and to create. */
export interface Changes {
  deletes: DeletePod[]
  /** The nodes for which a pod is created. */
  creates: string[]
}

export const apply: Appliers<DaemonSet, Action> = {
  ...revisionAppliers(revisionHashLabel),
  AdoptPod: { pace: 'all at once', run: ({ writer }, { pod }) => writer.adopt(pods, pod) },
  ReleasePod: { pace: 'all at once', run: ({ writer }, { pod }) => writer.release(pods, pod) },
  CreatePod: {
    pace: 'slow start',
    async run({ writer, owner, event }, { node, hash }) {
      const pod = await writer.create(pods, podFor(owner, node, hash))
      event('Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`)
      return pod
    },
    failed: (error) => ({ reason: 'FailedCreate', message: `Error creating: ${error.message}` }),
  },
  DeletePod: {
    pace: 'all at once',
    run: deletePod,
    failed: (error) => ({ reason: 'FailedDelete', message: `Error deleting: ${error.message}` }),
  },
}

async function deletePod({ writer, event }: ApplyContext<DaemonSet>, { pod, node, because }: DeletePod): Promise<void> {
  const { namespace, name } = pod.metadata
  if (because === 'failed') {
    event(
      'Warning',
      'FailedDaemonPod',
      `Found failed daemon pod ${namespace}/${name} on node ${node}, will try to kill it`,
    )
  }
  if (because === 'succeeded') {
    event(
      'Normal',
      'SucceededDaemonPod',
      `Found succeeded daemon pod ${namespace}/${name} on node ${node}, will try to delete it`,
    )
  }
  await writer.delete(pods, pod)
  event('Normal', 'SuccessfulDelete', `Deleted pod: ${name}`)
}
