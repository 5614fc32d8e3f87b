import { isAlreadyExists } from '../../api/errors.ts'
import type { Namespace } from '../../api/generated/types.ts'
import { namespaces, serviceaccounts } from '../../client/index.ts'
import { type Step, defineController, watching } from '../kit/index.ts'

/** The account of pods without one. */
const name = 'default'

export interface Observed {
  isActive: boolean
  exists: boolean
}

type Action = { kind: 'Create' }

/** Nothing is created in a terminating namespace. */
const plan = ({ isActive, exists }: Observed): Step<Action> => ({
  actions: isActive && !exists ? [{ kind: 'Create' }] : [],
})

/** Maintains a service account `default` in every namespace. */
export const serviceAccountController = defineController<Namespace, Observed, Action>({
  name: 'serviceaccount',
  owner: namespaces,
  sources: {
    watches: [
      watching(
        serviceaccounts,
        ({ metadata }) => (metadata.name === name ? [metadata.namespace ?? ''] : []),
        () => false,
      ),
    ],
  },
  observe: ({ caches }, { metadata, status }) => ({
    isActive: status?.phase === 'Active',
    exists: caches.get(serviceaccounts, metadata.name ?? '', name) !== undefined,
  }),
  plan,
  apply: {
    async Create({ writer, owner }) {
      try {
        await writer.create(serviceaccounts, { metadata: { name, namespace: owner.metadata.name } })
      } catch (e) {
        if (!isAlreadyExists(e)) throw e
      }
    },
  },
})
