import type { PersistentVolumeClaim, PersistentVolumeClaimSpec, Pod, Volume } from '../../api/generated/types.ts'
import { isControlledBy, keyOf, persistentvolumeclaims, pods } from '../../client/index.ts'
import { type Caches, type Step, defineController, watching } from '../kit/index.ts'

export interface Observed {
  pod: Pod
  /** The claims of the pod's namespace that have the name of one of its ephemeral volumes, by that name. */
  claims: ReadonlyMap<string, PersistentVolumeClaim>
}

export type Action =
  | { kind: 'Create'; volume: Volume; claimName: string }
  /** The name of a volume's claim belongs to a claim that was not created for the pod. */
  | { kind: 'ReportForeign'; volume: Volume; claimName: string }

/** The ephemeral volumes of a pod, with the names of their claims: `data` of the pod `web` has the claim `web-data`. */
const ephemeralVolumesOf = ({ metadata, spec }: Pod): { volume: Volume; claimName: string }[] =>
  (spec.volumes ?? []).flatMap((volume) =>
    volume.ephemeral ? [{ volume, claimName: `${metadata.name}-${volume.name}` }] : [],
  )

/** Creates the claims that are missing. */
export function plan({ pod, claims }: Observed): Step<Action> {
  const actions = ephemeralVolumesOf(pod).flatMap(({ volume, claimName }): Action[] => {
    const claim = claims.get(claimName)
    if (!claim) return [{ kind: 'Create', volume, claimName }]
    return isControlledBy(claim, pod) ? [] : [{ kind: 'ReportForeign', volume, claimName }]
  })
  return { actions }
}

const failed = (error: Error, { volume }: Action) => ({
  reason: 'FailedBinding',
  message: `ephemeral volume ${volume.name}: ${error.message}`,
})

/** The pods whose claim has this name: `web-my-data` is `my-data` of `web`, or `data` of `web-my`. */
function podsOfClaim({ metadata: { name = '', namespace = '' } }: PersistentVolumeClaim, caches: Caches): string[] {
  const keys: string[] = []
  for (let at = name.indexOf('-'); at > 0; at = name.indexOf('-', at + 1)) {
    const pod = caches.get(pods, namespace, name.slice(0, at))
    if (pod && ephemeralVolumesOf(pod).some(({ claimName }) => claimName === name)) keys.push(keyOf(pod))
  }
  return keys
}

/**
 * Creates the claims of generic ephemeral volumes. Each belongs to its pod, so the garbage collector deletes it after
 * the pod.
 */
export const ephemeralVolumeController = defineController<Pod, Observed, Action>({
  name: 'ephemeral-volume',
  owner: pods,
  sources: {
    looksAt: (pod) => pod.spec.volumes?.some(({ ephemeral }) => ephemeral) ?? false,
    owns: [persistentvolumeclaims],
    ownedConcern: () => false,
    watches: [watching(persistentvolumeclaims, podsOfClaim, () => false)],
  },
  observe: ({ caches }, pod) => ({
    pod,
    claims: new Map(
      ephemeralVolumesOf(pod).flatMap(({ claimName }) => {
        const claim = caches.get(persistentvolumeclaims, pod.metadata.namespace ?? '', claimName)
        return claim ? [[claimName, claim] as const] : []
      }),
    ),
  }),
  plan,
  apply: {
    Create: {
      pace: 'all at once',
      failed,
      async run({ writer, owner: { metadata } }, { volume, claimName }) {
        const template = volume.ephemeral?.volumeClaimTemplate
        const { labels, annotations } = template?.metadata ?? {}
        await writer.create(persistentvolumeclaims, {
          metadata: {
            name: claimName,
            namespace: metadata.namespace,
            ...(labels ? { labels } : {}),
            ...(annotations ? { annotations } : {}),
          },
          spec: template?.spec ?? ({} as PersistentVolumeClaimSpec),
        })
      },
    },
    ReportForeign: {
      pace: 'all at once',
      failed,
      async run({ owner: { metadata } }, { claimName }) {
        const pod = `${metadata.namespace}/${metadata.name}`
        throw new Error(`PVC ${metadata.namespace}/${claimName} was not created for pod ${pod} (pod is not owner)`)
      },
    },
  },
})
