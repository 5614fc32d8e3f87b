import type { Resource } from '../../registry/resource.ts'
import { mutatingadmissionpolicies, mutatingadmissionpolicybindings } from './mutating-policies.ts'
import { validatingadmissionpolicies, validatingadmissionpolicybindings } from './validating-policies.ts'
import { mutatingwebhookconfigurations, validatingwebhookconfigurations } from './webhook-configurations.ts'

export const admissionregistrationResources: Resource[] = [
  mutatingadmissionpolicies,
  mutatingadmissionpolicybindings,
  mutatingwebhookconfigurations,
  validatingadmissionpolicies,
  validatingadmissionpolicybindings,
  validatingwebhookconfigurations,
]
