import type { Volume } from '../generated/types.ts'
import {
  type Check,
  type CheckPod,
  containersText,
  hasOwnUsers,
  isWindows,
  namesOf,
  plural,
  quoted,
  settersText,
  sorted,
  unless,
} from './check.ts'

const noEscalation: CheckPod = (pod) => {
  const names = namesOf(pod, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false)
  if (names.length === 0) return undefined
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containersText(names)} must set securityContext.allowPrivilegeEscalation=false`,
  }
}

const allowedSources = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
] as const

/** In Kubernetes' order: if a volume has two, the first one is reported. */
const forbiddenSources = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
] as const

const isAllowedVolume = (volume: Volume) => allowedSources.some((source) => volume[source])
const sourceOf = (volume: Volume): string => forbiddenSources.find((source) => volume[source]) ?? 'unknown'

const volumeTypes: CheckPod = ({ spec }) => {
  const wrong = (spec.volumes ?? []).filter((volume) => !isAllowedVolume(volume))
  if (wrong.length === 0) return undefined
  const types = sorted(wrong.map(sourceOf))
  const whose = `${plural('volume', 'volumes', wrong.length)} ${quoted(wrong.map(({ name }) => name))}`
  const what = plural('restricted volume type', 'restricted volume types', types.length)
  const uses = plural('uses', 'use', wrong.length)
  return { reason: 'restricted volume types', detail: `${whose} ${uses} ${what} ${quoted(types)}` }
}

const nonRoot: CheckPod = (pod) => {
  const reason = 'runAsNonRoot != true'
  const ofPod = pod.spec.securityContext?.runAsNonRoot
  const setters = settersText(
    ofPod === false,
    namesOf(pod, ({ securityContext }) => securityContext?.runAsNonRoot === false),
  )
  if (setters) return { reason, detail: `${setters} must not set securityContext.runAsNonRoot=false` }
  const silent = ofPod ? [] : namesOf(pod, ({ securityContext }) => securityContext?.runAsNonRoot === undefined)
  if (silent.length === 0) return undefined
  return { reason, detail: `pod or ${containersText(silent)} must set securityContext.runAsNonRoot=true` }
}

const notUserZero: CheckPod = (pod) => {
  const names = namesOf(pod, ({ securityContext }) => securityContext?.runAsUser === 0)
  const setters = settersText(pod.spec.securityContext?.runAsUser === 0, names)
  return setters ? { reason: 'runAsUser=0', detail: `${setters} must not set runAsUser=0` } : undefined
}

/** Additional checks of the restricted level. */
export const restrictedChecks: readonly Check[] = [
  {
    id: 'allowPrivilegeEscalation',
    level: 'restricted',
    versions: [
      { since: 8, run: noEscalation },
      { since: 25, run: unless(isWindows, noEscalation) },
    ],
  },
  {
    id: 'restrictedVolumes',
    level: 'restricted',
    versions: [{ since: 0, run: volumeTypes, overrides: 'hostPathVolumes' }],
  },
  {
    id: 'runAsNonRoot',
    level: 'restricted',
    versions: [
      { since: 0, run: nonRoot },
      { since: 35, run: unless(hasOwnUsers, nonRoot) },
    ],
  },
  {
    id: 'runAsUser',
    level: 'restricted',
    versions: [
      { since: 23, run: notUserZero },
      { since: 35, run: unless(hasOwnUsers, notUserZero) },
    ],
  },
]
