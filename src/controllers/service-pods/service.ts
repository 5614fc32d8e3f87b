import { deepEqual } from '../../api/deep-equal.ts'
import type { Pod, Service } from '../../api/generated/types.ts'
import { pods, services } from '../../client/index.ts'
import type { Caches, Watch } from '../kit/index.ts'
import { isPodFinished, isPodReady, selected, selectedPods, selectorIndex } from '../kit/workload/index.ts'

export const headlessLabel = 'service.kubernetes.io/headless'

const selectorOf = ({ spec }: Service) => {
  const matchLabels = spec?.selector
  return matchLabels && Object.keys(matchLabels).length > 0 ? { matchLabels } : undefined
}

/** Services by what they select. */
export const servicesByPod = selectorIndex(services, selectorOf)

/** Pods that a service selects. */
export const podsServing = (caches: Caches, service: Service): Pod[] => selectedPods(caches, service.metadata.namespace ?? '', selectorOf(service))

/** Whether pods stand behind a service. Others have their endpoints from elsewhere, or none. */
export const isServedByPods = (service: Service): boolean => service.spec?.type !== 'ExternalName' && selectorOf(service) !== undefined

/** Whether a service has no address of its own. */
export const isHeadless = ({ spec }: Service): boolean => !spec?.clusterIP || spec.clusterIP === 'None'

const ipsOf = ({ status }: Pod): string => status?.podIPs?.map(({ ip }) => ip).join() ?? status?.podIP ?? ''

/** Whether a change of a pod could change the endpoints of a service. */
export const podConcerns = (before: Pod, after: Pod): boolean =>
  isPodReady(before) !== isPodReady(after) ||
  isPodFinished(before) !== isPodFinished(after) ||
  ipsOf(before) !== ipsOf(after) ||
  before.metadata.uid !== after.metadata.uid ||
  before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
  before.spec?.nodeName !== after.spec?.nodeName ||
  before.spec?.hostname !== after.spec?.hostname ||
  before.spec?.subdomain !== after.spec?.subdomain ||
  !deepEqual(before.metadata.labels, after.metadata.labels)

/** Has services looked at whose pods change. */
export const watchPods: Watch = selected(servicesByPod, pods, podConcerns)
