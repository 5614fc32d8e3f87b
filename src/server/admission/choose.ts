import {
  type PodSecurityConfiguration,
  isPodSecurityConfiguration,
  readPodSecuritySettings,
} from '../../api/pod-security/index.ts'
import type { FieldError } from '../../api/validation/field-error.ts'
import type { AdmissionPlugin } from './admission.ts'
import { alwaysAdmit, alwaysDeny, namespaceAutoProvision, namespaceExists } from './always.ts'
import { type EventLimit, eventRateLimit, limitErrors } from './event-rate-limit.ts'
import { admissionPlugins } from './index.ts'
import { alwaysPullImages, denyServiceExternalIPs, limitPodHardAntiAffinityTopology } from './limits/pod-limits.ts'
import { podSecurityOf } from './pod-security/pod-security.ts'

/** Kubernetes' plugins, in the order in which it runs them. */
export const pluginOrder: readonly string[] = (
  'AlwaysAdmit NamespaceAutoProvision NamespaceLifecycle NamespaceExists LimitPodHardAntiAffinityTopology ' +
  'LimitRanger ServiceAccount NodeRestriction TaintNodesByCondition AlwaysPullImages ImagePolicyWebhook ' +
  'PodSecurity PodNodeSelector Priority DefaultTolerationSeconds PodTolerationRestriction EventRateLimit ' +
  'ExtendedResourceToleration DefaultStorageClass StorageObjectInUseProtection PodGroupProtection ' +
  'OwnerReferencesPermissionEnforcement PersistentVolumeClaimResize RuntimeClass CertificateApproval ' +
  'CertificateSigning ClusterTrustBundleAttest CertificateSubjectRestriction DefaultIngressClass ' +
  'DenyServiceExternalIPs PodTopologyLabels PodGroupWorkloadExists NodeDeclaredFeatureValidator JobValidation ' +
  'PodResizeValidator MutatingAdmissionPolicy MutatingAdmissionWebhook ValidatingAdmissionPolicy ' +
  'ValidatingAdmissionWebhook ResourceQuota AlwaysDeny'
).split(' ')

/** Plugins that are off by default. */
const optional: readonly AdmissionPlugin[] = [
  alwaysAdmit,
  alwaysDeny,
  alwaysPullImages,
  denyServiceExternalIPs,
  limitPodHardAntiAffinityTopology,
  namespaceAutoProvision,
  namespaceExists,
]

/**
 * All plugins in Kubernetes' order, and whether each is on by default.
 *
 * @internal A test compares docs/admission.md with it.
 */
export function pluginNames(): { name: string; isUsual: boolean }[] {
  const usual = new Set(admissionPlugins.map(({ name }) => name))
  const there = new Set([...usual, ...optional.map(({ name }) => name), ...Object.keys(made)])
  return pluginOrder.filter((name) => there.has(name)).map((name) => ({ name, isUsual: usual.has(name) }))
}

/** Plugins that are on by default in Kubernetes and not implemented here. Naming them has no effect. */
const onElsewhere = new Set([
  'CertificateApproval',
  'CertificateSigning',
  'ClusterTrustBundleAttest',
  'JobValidation',
  'NodeDeclaredFeatureValidator',
  'PodGroupProtection',
  'PodGroupWorkloadExists',
  'PodResizeValidator',
])

type Configured = Readonly<Record<string, unknown>> | undefined

/** Plugins that are created from their configuration file. */
const made: Record<string, (configuration: Configured) => AdmissionPlugin> = {
  PodSecurity(configuration = {}) {
    const { apiVersion, kind } = configuration
    if (kind !== undefined && !isPodSecurityConfiguration(apiVersion, kind)) {
      throw wrongKind('PodSecurity', apiVersion, kind)
    }
    const { settings, errors } = readPodSecuritySettings(configuration as PodSecurityConfiguration)
    throwIfWrong('PodSecurity', errors)
    return podSecurityOf(settings)
  },
  EventRateLimit(configuration = {}) {
    const limits = (configuration.limits ?? []) as EventLimit[]
    throwIfWrong('EventRateLimit', limitErrors(limits))
    return eventRateLimit(limits)
  },
}

const wrongKind = (plugin: string, apiVersion: unknown, kind: unknown) =>
  new Error(
    `admission plugin ${JSON.stringify(plugin)}: no kind "${kind as string}" is registered for version ` +
      `"${apiVersion as string}"`,
  )

function throwIfWrong(plugin: string, errors: readonly FieldError[]): void {
  if (errors.length === 0) return
  const lines = errors.map(({ field, message }) => `${field}: ${message}`)
  throw new Error(
    `admission plugin ${JSON.stringify(plugin)}: ${lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`}`,
  )
}

export interface AdmissionChoice {
  /** --enable-admission-plugins: plugins to enable besides the default ones. */
  enabled?: readonly string[]
  /** --disable-admission-plugins */
  disabled?: readonly string[]
  /** The --admission-control-config-file, by plugin. */
  configurations?: ReadonlyMap<string, Configured>
}

/** Returns the enabled plugins in Kubernetes' order. Throws with Kubernetes' message for unknown names. */
export function chooseAdmission({
  enabled = [],
  disabled = [],
  configurations = new Map(),
}: AdmissionChoice): AdmissionPlugin[] {
  checkNames('enable', enabled)
  checkNames('disable', disabled)
  const both = enabled.filter((name) => disabled.includes(name)).sort()
  if (both.length) {
    throw new Error(`[${both.join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`)
  }
  const there = new Map([...admissionPlugins, ...optional].map((plugin) => [plugin.name, plugin]))
  const missing = enabled.find((name) => !there.has(name) && !made[name] && !onElsewhere.has(name))
  if (missing) throw new Error(`enable-admission-plugins plugin ${JSON.stringify(missing)} is not supported`)
  const usual = new Set(admissionPlugins.map(({ name }) => name))
  const wanted = pluginOrder.filter((name) => (usual.has(name) || enabled.includes(name)) && !disabled.includes(name))
  return wanted.flatMap((name) => {
    const make = made[name]
    if (make) return [make(configurations.get(name))]
    if (configurations.get(name)) {
      throw new Error(`configuration of admission plugin ${JSON.stringify(name)} is not supported`)
    }
    return there.get(name) ?? []
  })
}

function checkNames(verb: 'enable' | 'disable', names: readonly string[]): void {
  const unknown = names.find((name) => !pluginOrder.includes(name))
  if (unknown !== undefined) throw new Error(`${verb}-admission-plugins plugin ${JSON.stringify(unknown)} is unknown`)
}
