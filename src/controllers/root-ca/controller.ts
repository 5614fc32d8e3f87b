import { deepEqual } from '../../api/deep-equal.ts'
import { isAlreadyExists } from '../../api/errors.ts'
import type { ConfigMap, Namespace } from '../../api/generated/types.ts'
import { configmaps, namespaces } from '../../client/index.ts'
import { type Step, defineController, watching } from '../kit/index.ts'

const name = 'kube-root-ca.crt'
const description = 'kubernetes.io/description'
const descriptionText =
  "Certificates that vouch for this cluster's API server at its internal addresses, kubernetes.default.svc among them, and for nothing else."

export interface Observed {
  isActive: boolean
  found: ConfigMap | undefined
  caPem: string
}

type Action = { kind: 'Create'; caPem: string } | { kind: 'Correct'; found: ConfigMap; caPem: string }

const dataOf = (caPem: string) => ({ 'ca.crt': caPem })

/** Nothing is created in a terminating namespace, or without certificates. */
function plan({ isActive, found, caPem }: Observed): Step<Action> {
  if (!isActive || caPem === '') return { actions: [] }
  if (!found) return { actions: [{ kind: 'Create', caPem }] }
  const isRight = deepEqual(found.data, dataOf(caPem)) && Boolean(found.metadata.annotations?.[description])
  return { actions: isRight ? [] : [{ kind: 'Correct', found, caPem }] }
}

/** Maintains a config map with the certificates of the API server's authority in every namespace. */
export const rootCaPublisher = (caPem: string) =>
  defineController<Namespace, Observed, Action>({
    name: 'root-ca-cert-publisher',
    owner: namespaces,
    sources: {
      watches: [watching(configmaps, ({ metadata }) => (metadata.name === name ? [metadata.namespace ?? ''] : []))],
    },
    observe: ({ caches }, { metadata, status }) => ({
      isActive: status?.phase === 'Active',
      found: caches.get(configmaps, metadata.name ?? '', name),
      caPem,
    }),
    plan,
    apply: {
      async Create({ writer, owner }, action) {
        const metadata = { name, namespace: owner.metadata.name, annotations: { [description]: descriptionText } }
        try {
          await writer.create(configmaps, { metadata, data: dataOf(action.caPem) })
        } catch (e) {
          if (!isAlreadyExists(e)) throw e
        }
      },
      Correct({ writer }, { found, caPem: wanted }) {
        const annotations = { ...found.metadata.annotations, [description]: descriptionText }
        return writer.update(configmaps, {
          ...found,
          metadata: { ...found.metadata, annotations },
          data: dataOf(wanted),
        })
      },
    },
  })
