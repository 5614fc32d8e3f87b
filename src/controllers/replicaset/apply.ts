import { conflict } from '../../api/errors.ts'
import type { Pod } from '../../api/generated/types.ts'
import { pods } from '../../client/index.ts'
import type { Appliers } from '../kit/index.ts'
import { isPodFinished, namePrefix, podOfTemplate } from '../kit/workload/index.ts'
import type { ReplicaOwner } from './observe.ts'

export type Action =
  | {
      kind: 'AdoptPod'
      pod: Pod
    }
  | { kind: 'ReleasePod'; pod: Pod }
  | { kind: 'CreatePod' }
  | { kind: 'DeletePod'; pod: Pod }

export const apply: Appliers<ReplicaOwner, Action> = {
  AdoptPod: {
    pace: 'all at once',
    async run({ writer }, { pod }) {
      // The number of pods to create was computed with this pod included.
      if (isPodFinished(await writer.adopt(pods, pod))) {
        throw conflict({ group: '', resource: 'pods' }, pod.metadata.name ?? '', 'it has ended')
      }
    },
  },
  ReleasePod: { pace: 'all at once', run: ({ writer }, { pod }) => writer.release(pods, pod) },
  CreatePod: {
    pace: 'slow start',
    async run({ owner, writer, event }) {
      const { metadata } = await writer.create(
        pods,
        podOfTemplate(owner.spec!.template!, { generateName: namePrefix(owner.metadata.name!) }),
      )
      event('Normal', 'SuccessfulCreate', `Created pod: ${metadata.name}`)
    },
    failed: (error) => ({ reason: 'FailedCreate', message: `Error creating: ${error.message}` }),
  },
  DeletePod: {
    pace: 'all at once',
    async run({ writer, event }, { pod }) {
      await writer.delete(pods, pod)
      event('Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`)
    },
    failed: (error) => ({ reason: 'FailedDelete', message: `Error deleting: ${error.message}` }),
  },
}
