import { parseDuration } from '../../../base/duration.ts'

/** A webhook as flags or a configuration file describe it, before its kubeconfig is loaded. */
export interface WebhookConfig {
  type: 'Webhook'
  name: string
  /** The kubeconfig with the webhook's address and credentials. */
  kubeConfigFile: string
  authorizedTtlMs: number
  unauthorizedTtlMs: number
  timeoutMs: number
  onFailure: 'NoOpinion' | 'Deny'
  /** CEL expressions about the review. The webhook is called only if all are true. */
  matchConditions: readonly string[]
  /** The field path of the conditions, for error messages. */
  conditionsAt?: string
}

export type AuthorizerConfig = { type: 'Node' | 'RBAC' | 'AlwaysAllow' | 'AlwaysDeny' } | WebhookConfig

export const defaultModes: readonly AuthorizerConfig[] = [{ type: 'Node' }, { type: 'RBAC' }]

const plainModes = ['Node', 'RBAC', 'AlwaysAllow', 'AlwaysDeny'] as const
const isPlain = (mode: string): mode is (typeof plainModes)[number] => (plainModes as readonly string[]).includes(mode)

/** The --authorization-webhook-* flags. */
interface WebhookFlags {
  kubeConfigFile?: string | undefined
  authorizedTtlMs: number
  unauthorizedTtlMs: number
}

/** Returns the authorizers of `--authorization-mode`, in order. Throws an error with a message for the user. */
export function parseModes(modes: readonly string[], webhook: WebhookFlags): AuthorizerConfig[] {
  if (modes.length === 0) throw new Error('--authorization-mode: at least one mode must be passed')
  const repeated = modes.find((mode, i) => modes.indexOf(mode) !== i)
  if (repeated !== undefined)
    throw new Error(`--authorization-mode: ${JSON.stringify(repeated)} is specified more than once`)
  if (webhook.kubeConfigFile !== undefined && !modes.includes('Webhook')) {
    throw new Error('--authorization-webhook-config-file: cannot be specified without mode Webhook')
  }
  return modes.map((mode): AuthorizerConfig => {
    if (isPlain(mode)) return { type: mode }
    if (mode !== 'Webhook')
      throw new Error(
        `--authorization-mode: ${JSON.stringify(mode)} is none of ${[...plainModes, 'Webhook'].join(', ')}`,
      )
    if (!webhook.kubeConfigFile)
      throw new Error(
        "--authorization-mode: Webhook's configuration file was not passed: --authorization-webhook-config-file",
      )
    return {
      type: 'Webhook',
      name: 'default',
      timeoutMs: 30_000,
      onFailure: 'NoOpinion',
      matchConditions: [],
      ...webhook,
      kubeConfigFile: webhook.kubeConfigFile,
    }
  })
}

type Fields = Record<string, unknown>
const versions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`)

/** Returns the authorizers of a parsed AuthorizationConfiguration. Throws an error with one line for each problem. */
export function parseAuthorizationConfig(file: unknown): AuthorizerConfig[] {
  const problems: string[] = []
  const { apiVersion, kind, authorizers } = asFields(file)
  if (!versions.includes(String(apiVersion)))
    problems.push(
      `apiVersion: Unsupported value: ${JSON.stringify(apiVersion)}: supported values: ${versions.map((v) => JSON.stringify(v)).join(', ')}`,
    )
  if (kind !== 'AuthorizationConfiguration') problems.push('kind: must be AuthorizationConfiguration')
  const list = Array.isArray(authorizers) ? authorizers : []
  if (list.length === 0) problems.push('authorizers: Required value: at least one authorization mode must be defined')
  const names = new Set<string>()
  const types = new Set<string>()
  const found = list.flatMap((entry, i) => {
    const { type, name, webhook } = asFields(entry)
    const at = `authorizers[${i}]`
    if (typeof name !== 'string' || name === '') problems.push(`${at}.name: Required value`)
    else if (names.has(name)) problems.push(`${at}.name: Duplicate value: ${JSON.stringify(name)}`)
    names.add(String(name))
    if (type !== 'Webhook' && types.has(String(type)))
      problems.push(`${at}.type: Duplicate value: ${JSON.stringify(type)}`)
    types.add(String(type))
    if (type === 'Webhook') return [webhookOf(String(name), webhook, `${at}.webhook`, problems)]
    if (webhook !== undefined) problems.push(`${at}.webhook: Invalid value: may only be specified when type=Webhook`)
    if (isPlain(String(type))) return [{ type } as AuthorizerConfig]
    problems.push(
      `${at}.type: Unsupported value: ${JSON.stringify(type)}: supported values: "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"`,
    )
    return []
  })
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return found
}

const asFields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

function webhookOf(name: string, value: unknown, at: string, problems: string[]): AuthorizerConfig {
  if (typeof value !== 'object' || value === null) problems.push(`${at}: Required value: required when type=Webhook`)
  const fields = asFields(value)
  const duration = (key: string, initial?: string): number => {
    const text = fields[key] ?? initial
    const ms = typeof text === 'string' ? parseDuration(text) : undefined
    if (ms === undefined || ms <= 0)
      problems.push(
        `${at}.${key}: ${text === undefined ? 'Required value' : `Invalid value: ${JSON.stringify(text)}: must be > 0s`}`,
      )
    return ms ?? 0
  }
  const oneOf = (key: string, allowed: readonly string[]): string => {
    const text = fields[key]
    if (!allowed.includes(String(text)))
      problems.push(
        `${at}.${key}: ${text === undefined ? 'Required value' : `Unsupported value: ${JSON.stringify(text)}: supported values: ${allowed.map((a) => JSON.stringify(a)).join(', ')}`}`,
      )
    return String(text)
  }
  oneOf('subjectAccessReviewVersion', ['v1'])
  const { type, kubeConfigFile } = asFields(fields['connectionInfo'])
  if (type !== 'KubeConfigFile') problems.push(`${at}.connectionInfo.type: must be KubeConfigFile`)
  if (typeof kubeConfigFile !== 'string' || kubeConfigFile === '')
    problems.push(`${at}.connectionInfo.kubeConfigFile: Required value`)
  const conditions = Array.isArray(fields['matchConditions']) ? fields['matchConditions'] : []
  if (conditions.length > 0) oneOf('matchConditionSubjectAccessReviewVersion', ['v1'])
  return {
    type: 'Webhook',
    name,
    kubeConfigFile: String(kubeConfigFile),
    authorizedTtlMs: duration('authorizedTTL', '5m'),
    unauthorizedTtlMs: duration('unauthorizedTTL', '30s'),
    timeoutMs: duration('timeout'),
    onFailure: oneOf('failurePolicy', ['NoOpinion', 'Deny']) as WebhookConfig['onFailure'],
    matchConditions: conditions.map((condition) => String(asFields(condition)['expression'] ?? '')),
    conditionsAt: `${at}.matchConditions`,
  }
}
