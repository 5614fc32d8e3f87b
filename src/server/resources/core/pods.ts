import { kindNames } from '../../../api/kind-names.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { Pod } from '../../../api/generated/types.ts'
import { validatePodCreate } from '../../../api/kinds/pods/pod.ts'
import { defaultPod } from '../../../api/kinds/pods/pod-defaults.ts'
import { podDeletionGracePeriod } from '../../../api/kinds/pods/pod-availability.ts'
import {
  prepareEphemeralContainersUpdate,
  prepareResize,
  validateEphemeralContainersUpdate,
  validateResize,
} from '../../../api/kinds/pods/pod-partial-updates.ts'
import { dropUnsupportedFields, preparePodForCreate } from '../../../api/kinds/pods/pod-prepare.ts'
import { prepareStatusUpdate, validatePodStatusUpdate } from '../../../api/kinds/pods/pod-status.ts'
import { readinessGatesText, restartsText, summarizePod } from '../../../api/kinds/pods/pod-summary.ts'
import { validatePodUpdate } from '../../../api/kinds/pods/pod-update.ts'
import { podWarnings } from '../../../api/kinds/pods/pod-warnings.ts'
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
    description:
      'The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.',
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
  Succeeded: [
    { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' },
  ],
  Failed: [{ type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }],
}

/** core/v1 Pod. */
export const pods = defineResource<Pod>({
  ...kindNames.pods,
  nameRule: subdomainName,

  defaults: defaultPod,
  // As in Kubernetes, status.qosClass of a create is kept. The rest of the status is reset.
  keepsStatusOnCreate: true,
  prepareForCreate: (pod, ctx) => preparePodForCreate(pod, ctx.now),
  validate: validatePodCreate,
  prepareForUpdate: (pod) => dropUnsupportedFields(pod.spec),
  validateUpdate: validatePodUpdate,
  // Updates get no warnings: most are by node agents.
  warnings: (pod, old) => (old ? [] : podWarnings(pod)),

  generation: { changed: (pod, old) => !semanticEqual(pod.spec, old.spec) },
  status: { prepare: prepareStatusUpdate, validate: validatePodStatusUpdate },
  partialUpdates: {
    ephemeralcontainers: { prepare: prepareEphemeralContainersUpdate, validate: validateEphemeralContainersUpdate },
    resize: { prepare: prepareResize, validate: validateResize },
  },

  // Pods are patched most often, with the smallest changes.
  sharesParts: true,
  gracePeriod: podDeletionGracePeriod,
  deleteAnswersObject: true,

  selectableFields: {
    'spec.nodeName': (pod) => pod.spec.nodeName ?? '',
    // The legacy name of spec.nodeName.
    'spec.host': (pod) => pod.spec.nodeName ?? '',
    'spec.restartPolicy': (pod) => pod.spec.restartPolicy ?? '',
    'spec.schedulerName': (pod) => pod.spec.schedulerName ?? '',
    'spec.serviceAccountName': (pod) => pod.spec.serviceAccountName ?? '',
    'spec.hostNetwork': (pod) => String(pod.spec.hostNetwork ?? false),
    'status.phase': (pod) => pod.status.phase ?? '',
    'status.podIP': (pod) => pod.status.podIPs?.[0]?.ip ?? '',
    // As in Kubernetes, selectable but always empty.
    'status.podIPs': () => '',
    'status.nominatedNodeName': (pod) => pod.status.nominatedNodeName ?? '',
  },
  columns,
  rowConditions: (pod) => finished[pod.status.phase ?? ''] ?? [],
})
