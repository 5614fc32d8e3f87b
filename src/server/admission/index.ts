import type { AdmissionPlugin } from './admission.ts'
import { certificateSubjectRestriction } from './certificate-requests.ts'
import { defaultIngressClass } from './default-ingress-class.ts'
import { defaultStorageClass } from './storage/default-storage-class.ts'
import { defaultTolerationSeconds } from './placement/default-toleration-seconds.ts'
import { limitRanger } from './limits/limit-ranger.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { nodeRestriction } from './node-restriction.ts'
import { persistentVolumeClaimResize } from './storage/persistent-volume-claim-resize.ts'
import { podSecurity } from './pod-security/pod-security.ts'
import { podTopologyLabels } from './placement/pod-topology-labels.ts'
import { mutatingAdmissionPolicy } from './policies/mutating-plugin.ts'
import { validatingAdmissionPolicy } from './policies/validating-plugin.ts'
import { priority } from './placement/priority.ts'
import { resourceQuota } from './quota/resource-quota.ts'
import { runtimeClass } from './placement/runtime-class.ts'
import { serviceAccount } from './accounts/service-account.ts'
import { storageObjectInUseProtection } from './storage/storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './placement/taint-nodes-by-condition.ts'
import { mutatingAdmissionWebhook } from './webhooks/mutating-plugin.ts'
import { validatingAdmissionWebhook } from './webhooks/validating-plugin.ts'

/** The plugins that are on by default, in Kubernetes' order. */
export const admissionPlugins: readonly AdmissionPlugin[] = [
  namespaceLifecycle,
  limitRanger,
  serviceAccount,
  nodeRestriction,
  taintNodesByCondition,
  podSecurity,
  priority,
  defaultTolerationSeconds,
  defaultStorageClass,
  storageObjectInUseProtection,
  persistentVolumeClaimResize,
  runtimeClass,
  certificateSubjectRestriction,
  defaultIngressClass,
  podTopologyLabels,
  mutatingAdmissionPolicy,
  mutatingAdmissionWebhook,
  validatingAdmissionPolicy,
  validatingAdmissionWebhook,
  resourceQuota,
]
