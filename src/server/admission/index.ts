import type { AdmissionPlugin } from './admission.ts'
import { certificateSubjectRestriction } from './certificate-requests.ts'
import { defaultIngressClass } from './default-ingress-class.ts'
import { defaultStorageClass } from './default-storage-class.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { limitRanger } from './limit-ranger.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { nodeRestriction } from './node-restriction.ts'
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts'
import { podSecurity } from './pod-security.ts'
import { podTopologyLabels } from './pod-topology-labels.ts'
import { mutatingAdmissionPolicy } from './policies/mutating-plugin.ts'
import { validatingAdmissionPolicy } from './policies/validating-plugin.ts'
import { priority } from './priority.ts'
import { resourceQuota } from './resource-quota.ts'
import { runtimeClass } from './runtime-class.ts'
import { serviceAccount } from './service-account.ts'
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './taint-nodes-by-condition.ts'
import { mutatingAdmissionWebhook } from './webhooks/mutating-plugin.ts'
import { validatingAdmissionWebhook } from './webhooks/validating-plugin.ts'

/** The plugins that run, in Kubernetes' order. */
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
