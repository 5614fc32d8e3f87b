import type { Namespace, Pod, PodSpec } from '../../api/generated/types.ts'
import {
  type Policy, type PodSecuritySettings, detailsText, isPrivileged, isSameLevelVersion, isSignificantUpdate,
  labelPrefix, levelVersionText,
  objectionsTo, policyOf, templateReader, usualSettings,
} from '../../api/pod-security/index.ts'
import type { FieldError } from '../../api/validation/field-error.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { checkNamespace } from './pod-security-namespaces.ts'
import { refusal } from './refusal.ts'

/** What is posted to them is no pod, or says nothing of what a pod may do. */
const otherSubresources = new Set(['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'])

type Metadata = { annotations?: Record<string, string> } | undefined

/** Pods, or what makes pods, of one request, and the policy of their namespace. */
interface Question {
  request: AdmissionRequest
  settings: PodSecuritySettings
  policy: Policy
  errors: readonly FieldError[]
}

const annotate = ({ note }: AdmissionRequest, key: string, value: string) => note?.(labelPrefix + key, value)

function isExempt(request: AdmissionRequest, { exemptions }: PodSecuritySettings): boolean {
  const why = exemptions.namespaces.includes(request.namespace)
    ? 'namespace' : exemptions.usernames.includes(request.user.name) ? 'user' : ''
  if (why) annotate(request, 'exempt', why)
  return why !== ''
}

/**
 * Asks each mode for its objections, once where two are the same. Only pods are refused; the audit log is told where
 * there is one.
 */
function judge(
  { request, settings, policy, errors }: Question, metadata: Metadata, spec: PodSpec, enforces: boolean,
): void {
  if (spec.runtimeClassName && settings.exemptions.runtimeClasses.includes(spec.runtimeClassName)) {
    annotate(request, 'exempt', 'runtimeClass')
    return
  }
  if (errors.length) annotate(request, 'error', `Failed to parse policy: ${errorsText(errors)}`)
  const enforced = enforces ? detailsText(objectionsTo(metadata, spec, policy.enforce)) : ''
  const detailsBy = (mode: 'audit' | 'warn'): string => {
    if (enforces && isSameLevelVersion(policy[mode], policy.enforce)) return enforced
    return detailsText(objectionsTo(metadata, spec, policy[mode]))
  }
  if (enforces) annotate(request, 'enforce-policy', levelVersionText(policy.enforce))
  if (request.note) {
    const audited = detailsBy('audit')
    if (audited) {
      annotate(request, 'audit-violations', `would violate PodSecurity "${levelVersionText(policy.audit)}": ${audited}`)
    }
  }
  if (enforced) throw refusal(request, `violates PodSecurity "${levelVersionText(policy.enforce)}": ${enforced}`)
  const warned = detailsBy('warn')
  if (warned) request.warnings.push(`would violate PodSecurity "${levelVersionText(policy.warn)}": ${warned}`)
}

const errorsText = (errors: readonly FieldError[]): string => {
  const lines = errors.map(({ field, message }) => `${field}: ${message}`)
  return lines.length === 1 ? lines[0]! : `[${lines.join(', ')}]`
}

function questionOf(request: AdmissionRequest, settings: PodSecuritySettings): Question {
  const home = request.reader.get<Namespace>('', 'namespaces', '', request.namespace)
  return { request, settings, ...policyOf(home?.metadata.labels, settings.defaults) }
}

function checkPod(request: AdmissionRequest, settings: PodSecuritySettings): void {
  if (otherSubresources.has(request.subresource) || isExempt(request, settings)) return
  const question = questionOf(request, settings)
  if (!question.errors.length && isPrivileged(question.policy, 'enforce', 'audit', 'warn')) {
    annotate(request, 'enforce-policy', 'privileged:latest')
    return
  }
  const pod = request.object as Pod
  if (request.operation === 'UPDATE' && !isSignificantUpdate(pod, request.old as Pod)) return
  judge(question, pod.metadata, pod.spec, true)
}

function checkTemplate(request: AdmissionRequest, settings: PodSecuritySettings): void {
  const { group, plural } = request.resource
  const readTemplate = request.subresource === '' ? templateReader(group, plural) : undefined
  if (!readTemplate || isExempt(request, settings)) return
  const question = questionOf(request, settings)
  if (!question.errors.length && isPrivileged(question.policy, 'audit', 'warn')) return
  const template = readTemplate(request.object!)
  if (template?.spec) judge(question, template.metadata, template.spec, false)
}

/**
 * Holds pods to the policy of their namespace: refuses them, and tells whoever makes them, or makes what makes them,
 * and the audit log. A namespace's labels must be readable, and a stricter policy is told of the pods that are there.
 */
export const podSecurityOf = (settings: PodSecuritySettings): AdmissionPlugin => ({
  name: 'PodSecurity',
  validate(request) {
    if (!request.object || (request.operation !== 'CREATE' && request.operation !== 'UPDATE')) return undefined
    const { group, plural } = request.resource
    if (group === '' && plural === 'namespaces') return checkNamespace(request, settings)
    if (group === '' && plural === 'pods') return checkPod(request, settings)
    return checkTemplate(request, settings)
  },
})

/** With nothing configured: only labels count. */
export const podSecurity = podSecurityOf(usualSettings)
