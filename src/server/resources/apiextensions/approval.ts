import type { CustomResourceDefinition, CustomResourceDefinitionCondition } from '../../../api/generated/types.ts'
import { type FieldError, invalid, required } from '../../../api/validation/field-error.ts'
import { Path } from '../../../api/validation/path.ts'

const annotation = 'api-approved.kubernetes.io'
const type = 'KubernetesAPIApprovalPolicyConformant'

/** True for the protected groups of the Kubernetes community. */
const isProtected = (group: string): boolean => /(^|\.)(k8s|kubernetes)\.io$/.test(group)

const isUrl = (text: string): boolean => URL.canParse(text)

/** A protected group needs an annotation with the URL of its approval, or with `unapproved`. */
export function approvalErrors({ metadata, spec }: CustomResourceDefinition): FieldError[] {
  if (!isProtected(spec.group)) return []
  const path = Path.of('metadata', 'annotations').key(annotation)
  const said = metadata.annotations?.[annotation]
  const see = `protected groups must have approval annotation ${JSON.stringify(annotation)}, see https://github.com/kubernetes/enhancements/pull/1111`
  if (!said) return [required(path, see)]
  if (said.startsWith('unapproved') || isUrl(said)) return []
  return [invalid(path, said, see)]
}

/** The KubernetesAPIApprovalPolicyConformant condition of a definition in a protected group. */
export function approvalCondition(
  { metadata, spec }: CustomResourceDefinition,
  now: string,
): CustomResourceDefinitionCondition | undefined {
  if (!isProtected(spec.group)) return undefined
  const said = metadata.annotations?.[annotation] ?? ''
  const lastTransitionTime = now
  if (said.startsWith('unapproved')) {
    return {
      type,
      status: 'False',
      reason: 'UnapprovedAnnotation',
      message: `not approved: ${JSON.stringify(said)}`,
      lastTransitionTime,
    }
  }
  if (isUrl(said))
    return { type, status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${said}`, lastTransitionTime }
  const message = `protected groups must have approval annotation ${JSON.stringify(annotation)}, see https://github.com/kubernetes/enhancements/pull/1111`
  return {
    type,
    status: 'False',
    reason: said ? 'InvalidAnnotation' : 'MissingAnnotation',
    message,
    lastTransitionTime,
  }
}
