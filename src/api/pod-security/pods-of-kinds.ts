import type { CronJob, Deployment, Pod, PodTemplate, PodTemplateSpec } from '../generated/types.ts'
import type { KubeObject } from '../object.ts'
import type { AnyContainer } from '../kinds/containers/visit-containers.ts'
import { seccompContainerPrefix } from './profile-checks.ts'

type TemplateOf = (object: KubeObject) => PodTemplateSpec | undefined

const ofSpec: TemplateOf = (object) => (object as Deployment).spec?.template
const ofCronJob: TemplateOf = (object) => (object as CronJob).spec?.jobTemplate?.spec?.template

/** The kinds with pod templates, by group and plural. */
const templates = new Map<string, TemplateOf>([
  ['/replicationcontrollers', ofSpec],
  ['/podtemplates', (object) => (object as PodTemplate).template],
  ['apps/replicasets', ofSpec],
  ['apps/deployments', ofSpec],
  ['apps/statefulsets', ofSpec],
  ['apps/daemonsets', ofSpec],
  ['batch/jobs', ofSpec],
  ['batch/cronjobs', ofCronJob],
  ['apps.kruise.io/clonesets', ofSpec],
])

/** Extracts the pod metadata and spec of a kind's objects; undefined for kinds without pods. */
export const templateReader = (group: string, plural: string): TemplateOf | undefined =>
  templates.get(`${group}/${plural}`)

/**
 * True if an update of a pod changes a field that checks depend on: images, annotations of profiles, or the set of
 * containers.
 */
export function isSignificantUpdate(pod: Pod, old: Pod): boolean {
  const now = pod.metadata.annotations ?? {}
  const before = old.metadata.annotations ?? {}
  const isOther = (container: AnyContainer, oldContainer: AnyContainer | undefined) =>
    oldContainer?.image !== container.image ||
    now[seccompContainerPrefix + container.name] !== before[seccompContainerPrefix + container.name]
  for (const field of ['containers', 'initContainers'] as const) {
    const list = pod.spec[field] ?? []
    const oldList = old.spec[field] ?? []
    if (list.length !== oldList.length || list.some((container, i) => isOther(container, oldList[i]))) return true
  }
  const oldOnes = new Map((old.spec.ephemeralContainers ?? []).map((container) => [container.name, container]))
  return (pod.spec.ephemeralContainers ?? []).some((container) => isOther(container, oldOnes.get(container.name)))
}
