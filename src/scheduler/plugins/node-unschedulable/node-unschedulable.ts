import type { Node, Taint } from '../../../api/generated/types.ts'
import { tolerates } from '../../../api/kinds/placement/tolerations.ts'
import type { PodInfo } from '../../cluster/pod-info.ts'
import type { FilterPlugin, Rejection } from '../plugin.ts'

const name = 'NodeUnschedulable'
const rejection: Rejection = { plugin: name, reasons: ['node(s) were unschedulable'], isFinal: true }
const taint: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }

/** Pods that tolerate the taint of cordoned nodes may run there, such as DaemonSet pods. */
const toleratesCordon = ({ pod }: PodInfo): boolean =>
  pod.spec.tolerations?.some((toleration) => tolerates(toleration, taint)) ?? false

const isOpen = ({ spec }: Node): boolean => !spec?.unschedulable

/** Rejects cordoned nodes. */
export const nodeUnschedulable: FilterPlugin = {
  name,
  filter: (pod) =>
    toleratesCordon(pod) ? undefined : { check: ({ isCordoned }) => (isCordoned ? rejection : undefined) },
  hears: ['NodeAdd', 'NodeUpdate', 'TargetPodUpdate'],
  helps(event, pod) {
    if (event.kind === 'NodeAdd') return isOpen(event.node)
    if (event.kind === 'NodeUpdate') return isOpen(event.node) && !isOpen(event.before)
    return toleratesCordon(pod)
  },
}
