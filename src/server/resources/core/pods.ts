import { kindNames } from '../../../api/kind-names.ts'
import { describeField } from '../../../api/docs.ts'
import type { Pod } from '../../../api/generated/types.ts'
import { validatePodCreate } from '../../../api/kinds/pod.ts'
import { defaultPod } from '../../../api/kinds/pod-defaults.ts'
import { podDeletionGracePeriod } from '../../../api/kinds/pod-deletion.ts'
import {
  prepareEphemeralContainersUpdate, prepareResize, validateEphemeralContainersUpdate, validateResize,
} from '../../../api/kinds/pod-partial-updates.ts'
import { dropUnsupportedFields, preparePodForCreate } from '../../../api/kinds/pod-prepare.ts'
import { prepareStatusUpdate, validatePodStatusUpdate } from '../../../api/kinds/pod-status.ts'
import { readinessGatesText, restartsText, summarizePod } from '../../../api/kinds/pod-summary.ts'
import { validatePodUpdate } from '../../../api/kinds/pod-update.ts'
import { podWarnings } from '../../../api/kinds/pod-warnings.ts'
import { semanticEqual } from '../../../api/deep-equal.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { type Column, defineResource } from '../../registry/resource.ts'

const none = '<none>'

const columns: readonly Column<Pod>[] = [
  nameColumn(),
  {
    name: 'Ready',
    type: 'string',
    description: 'The aggregate readiness state of this pod for accepting traffic.',
    cell: (pod) => {
      const { ready, containers } = summarizePod(pod)
      return `${ready}/${containers}`
    },
  },
  {
    name: 'Status',
    type: 'string',
    description: 'The aggregate status of the containers in this pod.',
    cell: (pod) => summarizePod(pod).status,
  },
  {
    name: 'Restarts',
    type: 'string',
    description: 'The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.',
    cell: (pod, now) => restartsText(summarizePod(pod), now),
  },
  ageColumn(),
  {
    name: 'IP',
    type: 'string',
    priority: 1,
    description: () => describeField('PodStatus', 'podIP'),
    cell: (pod) => pod.status.podIPs?.[0]?.ip || none,
  },
  {
    name: 'Node',
    type: 'string',
    priority: 1,
    description: () => describeField('PodSpec', 'nodeName'),
    cell: (pod) => pod.spec.nodeName || none,
  },
  {
    name: 'Nominated Node',
    type: 'string',
    priority: 1,
    description: () => describeField('PodStatus', 'nominatedNodeName'),
    cell: (pod) => pod.status.nominatedNodeName || none,
  },
  {
    name: 'Readiness Gates',
    type: 'string',
    priority: 1,
    description: () => describeField('PodSpec', 'readinessGates'),
    cell: readinessGatesText,
  },
]

const finished: Record<string, { type: string; status: string; reason: string; message: string }[]> = {
  Succeeded: [{ type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' }],
  Failed: [{ type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }],
}

/** core/v1 Pod. */
export const pods = defineResource<Pod>({
  ...kindNames.pods,
  nameRule: subdomainName,

  defaults: defaultPod,
  // A quality-of-service class that was sent is kept, as Kubernetes does; all else of the status is made anew.
  keepsStatusOnCreate: true,
  prepareForCreate: (pod, ctx) => preparePodForCreate(pod, ctx.now),
  validate: validatePodCreate,
  prepareForUpdate: (pod) => dropUnsupportedFields(pod.spec),
  validateUpdate: validatePodUpdate,
  // Humans seldom update pods, and node agents do it all the time.
  warnings: (pod, old) => (old ? [] : podWarnings(pod)),

  generation: { changed: (pod, old) => !semanticEqual(pod.spec, old.spec) },
  status: { prepare: prepareStatusUpdate, validate: validatePodStatusUpdate },
  partialUpdates: {
    ephemeralcontainers: { prepare: prepareEphemeralContainersUpdate, validate: validateEphemeralContainersUpdate },
    resize: { prepare: prepareResize, validate: validateResize },
  },

  // Nothing else is patched as often, with as little that changes.
  sharesParts: true,
  gracePeriod: podDeletionGracePeriod,
  deleteAnswersObject: true,

  selectableFields: {
    'spec.nodeName': (pod) => pod.spec.nodeName ?? '',
    // The old name of spec.nodeName.
    'spec.host': (pod) => pod.spec.nodeName ?? '',
    'spec.restartPolicy': (pod) => pod.spec.restartPolicy ?? '',
    'spec.schedulerName': (pod) => pod.spec.schedulerName ?? '',
    'spec.serviceAccountName': (pod) => pod.spec.serviceAccountName ?? '',
    'spec.hostNetwork': (pod) => String(pod.spec.hostNetwork ?? false),
    'status.phase': (pod) => pod.status.phase ?? '',
    'status.podIP': (pod) => pod.status.podIPs?.[0]?.ip ?? '',
    // Known and never set, as in Kubernetes.
    'status.podIPs': () => '',
    'status.nominatedNodeName': (pod) => pod.status.nominatedNodeName ?? '',
  },
  columns,
  rowConditions: (pod) => finished[pod.status.phase ?? ''] ?? [],
})
