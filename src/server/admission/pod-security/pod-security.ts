import type { Namespace, Pod, PodSpec } from '../../../api/generated/types.ts'
import {
  type Policy,
  type PodSecuritySettings,
  detailsText,
  isPrivileged,
  isSameLevelVersion,
  isSignificantUpdate,
  labelPrefix,
  levelVersionText,
  objectionsTo,
  policyOf,
  templateReader,
  usualSettings,
} from '../../../api/pod-security/index.ts'
import type { FieldError } from '../../../api/validation/field-error.ts'
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts'
import { PodSecurityMetrics } from './pod-security-metrics.ts'
import { checkNamespace } from './pod-security-namespaces.ts'
import { refusal } from '../refusal.ts'

/** Subresources whose body is not a pod, or does not affect its security. */
const otherSubresources = new Set(['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'])

type Metadata = { annotations?: Record<string, string> } | undefined

/** The settings of a plugin and its server's metrics, if any. */
interface Around {
  settings: PodSecuritySettings
  metrics: PodSecurityMetrics | undefined
}

/** The pod or pod template of one request, and the policy of its namespace. */
interface Question extends Around {
  request: AdmissionRequest
  policy: Policy
  errors: readonly FieldError[]
}

const annotate = ({ note }: AdmissionRequest, key: string, value: string) => note?.(labelPrefix + key, value)

function exempt(request: AdmissionRequest, why: 'namespace' | 'user' | 'runtimeClass', { metrics }: Around): true {
  annotate(request, 'exempt', why)
  metrics?.exempted(request)
  return true
}

function isExempt(request: AdmissionRequest, around: Around): boolean {
  const { exemptions } = around.settings
  if (exemptions.namespaces.includes(request.namespace)) return exempt(request, 'namespace', around)
  return exemptions.usernames.includes(request.user.name) && exempt(request, 'user', around)
}

/**
 * Evaluates each mode, once for equal policies. Only pods are rejected. Violations are annotated if the request is
 * audited.
 */
function judge(question: Question, metadata: Metadata, spec: PodSpec, enforces: boolean): void {
  const { request, settings, metrics, policy, errors } = question
  if (spec.runtimeClassName && settings.exemptions.runtimeClasses.includes(spec.runtimeClassName)) {
    exempt(request, 'runtimeClass', question)
    return
  }
  if (errors.length) {
    annotate(request, 'error', `Failed to parse policy: ${errorsText(errors)}`)
    metrics?.policyUnreadable(request)
  }
  const enforced = enforces ? detailsText(objectionsTo(metadata, spec, policy.enforce)) : ''
  const detailsBy = (mode: 'audit' | 'warn'): string => {
    if (enforces && isSameLevelVersion(policy[mode], policy.enforce)) return enforced
    return detailsText(objectionsTo(metadata, spec, policy[mode]))
  }
  if (enforces) {
    annotate(request, 'enforce-policy', levelVersionText(policy.enforce))
    metrics?.evaluated(request, 'enforce', policy.enforce, enforced ? 'deny' : 'allow')
  }
  const audited = request.note || metrics ? detailsBy('audit') : ''
  if (audited) {
    annotate(request, 'audit-violations', `would violate PodSecurity "${levelVersionText(policy.audit)}": ${audited}`)
    metrics?.evaluated(request, 'audit', policy.audit, 'deny')
  }
  if (enforced) throw refusal(request, `violates PodSecurity "${levelVersionText(policy.enforce)}": ${enforced}`)
  const warned = detailsBy('warn')
  if (!warned) return
  request.warnings.push(`would violate PodSecurity "${levelVersionText(policy.warn)}": ${warned}`)
  metrics?.evaluated(request, 'warn', policy.warn, 'deny')
}

const errorsText = (errors: readonly FieldError[]): string => {
  const lines = errors.map(({ field, message }) => `${field}: ${message}`)
  return lines.length === 1 ? lines[0]! : `[${lines.join(', ')}]`
}

function questionOf(request: AdmissionRequest, { settings, metrics }: Around): Question {
  const home = request.reader.get<Namespace>('', 'namespaces', '', request.namespace)
  return { request, settings, metrics, ...policyOf(home?.metadata.labels, settings.defaults) }
}

function checkPod(request: AdmissionRequest, around: Around): void {
  if (otherSubresources.has(request.subresource) || isExempt(request, around)) return
  const question = questionOf(request, around)
  if (!question.errors.length && isPrivileged(question.policy, 'enforce', 'audit', 'warn')) {
    annotate(request, 'enforce-policy', 'privileged:latest')
    around.metrics?.evaluated(request, 'enforce', question.policy.enforce, 'allow')
    return
  }
  const pod = request.object as Pod
  if (request.operation === 'UPDATE' && !isSignificantUpdate(pod, request.old as Pod)) return
  judge(question, pod.metadata, pod.spec, true)
}

function checkTemplate(request: AdmissionRequest, around: Around): void {
  const { group, plural } = request.resource
  const readTemplate = request.subresource === '' ? templateReader(group, plural) : undefined
  if (!readTemplate || isExempt(request, around)) return
  const question = questionOf(request, around)
  if (!question.errors.length && isPrivileged(question.policy, 'audit', 'warn')) return
  const template = readTemplate(request.object!)
  if (template?.spec) judge(question, template.metadata, template.spec, false)
}

/**
 * Enforces the Pod Security Standard of a namespace: rejects pods, and warns about and audits pods and pod templates.
 * Also validates the labels of namespaces, and warns if existing pods violate a stricter policy.
 */
export const podSecurityOf = (settings: PodSecuritySettings, metrics?: PodSecurityMetrics): AdmissionPlugin => {
  const around = { settings, metrics }
  return {
    name: 'PodSecurity',
    forServer: (server) => podSecurityOf(settings, new PodSecurityMetrics(server.metrics)),
    validate(request) {
      if (!request.object || (request.operation !== 'CREATE' && request.operation !== 'UPDATE')) return undefined
      const { group, plural } = request.resource
      if (group === '' && plural === 'namespaces') return checkNamespace(request, settings)
      if (group === '' && plural === 'pods') return checkPod(request, around)
      return checkTemplate(request, around)
    },
  }
}

/** The plugin without configuration: only namespace labels apply. */
export const podSecurity = podSecurityOf(usualSettings)
