import type { PodSecurityContext, PodSpec, SecurityContext, Sysctl } from '../../generated/types.ts'
import type { Int64 } from '../../numbers/int64.ts'
import { type FieldError, duplicate, forbidden, invalid, notSupported, required } from '../../validation/field-error.ts'
import { byteLength } from '../../validation/names.ts'
import type { Path } from '../../validation/path.ts'
import { validateAppArmorProfile, validateSeccompProfile } from './security-profiles.ts'
import { validateWindowsOptions } from './windows-options.ts'

const maxId = 2 ** 31 - 1
const idRangeMessage = `must be between 0 and ${maxId}, inclusive`

/** Validates a user or group ID. */
export function validateId(id: Int64 | undefined, path: () => Path, errors: FieldError[]): void {
  if (id !== undefined && (id < 0 || id > maxId)) errors.push(invalid(path(), id, idRangeMessage))
}

/** A container's security context as Kubernetes' messages print it. */
const internalForm = (context: SecurityContext) => ({
  Capabilities: context.capabilities
    ? { Add: context.capabilities.add ?? null, Drop: context.capabilities.drop ?? null }
    : null,
  Privileged: context.privileged ?? null,
  SELinuxOptions: context.seLinuxOptions ?? null,
  WindowsOptions: context.windowsOptions ?? null,
  RunAsUser: context.runAsUser ?? null,
  RunAsGroup: context.runAsGroup ?? null,
  RunAsNonRoot: context.runAsNonRoot ?? null,
  ReadOnlyRootFilesystem: context.readOnlyRootFilesystem ?? null,
  AllowPrivilegeEscalation: context.allowPrivilegeEscalation ?? null,
  ProcMount: context.procMount ?? null,
  SeccompProfile: context.seccompProfile ?? null,
  AppArmorProfile: context.appArmorProfile ?? null,
})

/** Kubernetes' error for containers that --allow-privileged=false forbids. */
const clusterPolicy = 'disallowed by cluster policy'

/**
 * True for an error that exists only because privileged containers are not allowed. Messages of other errors are not
 * read: they may quote a long list and are formatted on each access.
 */
export const isPrivilegedRefusal = (error: FieldError): boolean =>
  error.reason === 'FieldValueForbidden' && error.message.endsWith(clusterPolicy)

/**
 * Validates a container's security context. Privileged containers are rejected; `isPrivilegedRefusal` recognizes that
 * error.
 */
export function validateContainerSecurityContext(
  context: SecurityContext,
  hostUsers: boolean,
  path: Path,
  errors: FieldError[],
): void {
  if (context.privileged) errors.push(forbidden(path.child('privileged'), clusterPolicy))
  validateId(context.runAsUser, () => path.child('runAsUser'), errors)
  validateId(context.runAsGroup, () => path.child('runAsGroup'), errors)
  const { procMount } = context
  if (procMount !== undefined) {
    if (procMount !== 'Default' && procMount !== 'Unmasked') {
      errors.push(notSupported(path.child('procMount'), procMount, ['Default', 'Unmasked']))
    }
    if (hostUsers && procMount === 'Unmasked') {
      errors.push(invalid(path.child('procMount'), procMount, '`hostUsers` must be false to use `Unmasked`'))
    }
  }
  if (context.seccompProfile) validateSeccompProfile(context.seccompProfile, path.child('seccompProfile'), errors)
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged) {
      errors.push(
        invalid(path, internalForm(context), 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'),
      )
    }
    for (const capability of context.capabilities?.add ?? []) {
      if (capability !== 'CAP_SYS_ADMIN') continue
      errors.push(
        invalid(
          path,
          internalForm(context),
          'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
        ),
      )
    }
  }
  if (context.windowsOptions) validateWindowsOptions(context.windowsOptions, path.child('windowsOptions'), errors)
  if (context.appArmorProfile) validateAppArmorProfile(context.appArmorProfile, path.child('appArmorProfile'), errors)
}

const sysctlPattern = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$'
const sysctlName = new RegExp(sysctlPattern)
const maxSysctlName = 253

const ipcSysctls = new Set(['kernel.sem'])
const ipcPrefixes = ['kernel.shm', 'kernel.msg', 'fs.mqueue.']

/** The kernel namespace of a sysctl. Slashes may be used as separators instead of dots. */
function sysctlNamespace(name: string): 'net' | 'ipc' | '' {
  const firstSeparator = /[./]/.exec(name)?.[0]
  const dotted = firstSeparator === '/' ? name.replace(/[./]/g, (c) => (c === '/' ? '.' : '/')) : name
  if (dotted.startsWith('net.')) return 'net'
  return ipcSysctls.has(dotted) || ipcPrefixes.some((prefix) => dotted.startsWith(prefix)) ? 'ipc' : ''
}

function validateSysctls(sysctls: readonly Sysctl[], spec: PodSpec, path: Path, errors: FieldError[]): void {
  const seen = new Set<string>()
  for (const [i, { name }] of sysctls.entries()) {
    const at = path.index(i).child('name')
    if (!name) errors.push(required(at))
    else if (byteLength(name) > maxSysctlName || !sysctlName.test(name)) {
      errors.push(invalid(at, name, `must have at most ${maxSysctlName} characters and match regex ${sysctlPattern}`))
    } else if (seen.has(name)) errors.push(duplicate(at, name))
    const namespace = sysctlNamespace(name ?? '')
    if (spec.hostNetwork && namespace === 'net')
      errors.push(invalid(at, name, "may not be specified when 'hostNetwork' is true"))
    else if (spec.hostIPC && namespace === 'ipc')
      errors.push(invalid(at, name, "may not be specified when 'hostIPC' is true"))
    seen.add(name)
  }
}

function oneOf(value: string | undefined, allowed: readonly string[], path: () => Path, errors: FieldError[]): void {
  if (value !== undefined && !allowed.includes(value)) errors.push(notSupported(path(), value, allowed))
}

const changePolicies = ['Always', 'OnRootMismatch']
const groupsPolicies = ['Merge', 'Strict']
const seLinuxPolicies = ['MountOption', 'Recursive']

/** Validates a pod's security context, including the settings of the spec that Kubernetes counts as part of it. */
export function validatePodSecurityContext(
  context: PodSecurityContext,
  spec: PodSpec,
  path: Path,
  errors: FieldError[],
): void {
  validateId(context.fsGroup, () => path.child('fsGroup'), errors)
  validateId(context.runAsUser, () => path.child('runAsUser'), errors)
  validateId(context.runAsGroup, () => path.child('runAsGroup'), errors)
  for (const [i, id] of (context.supplementalGroups ?? []).entries()) {
    validateId(id, () => path.child('supplementalGroups').index(i), errors)
  }
  if (spec.shareProcessNamespace && spec.hostPID) {
    errors.push(
      invalid(path.child('shareProcessNamespace'), true, 'ShareProcessNamespace and HostPID cannot both be enabled'),
    )
  }
  if (context.sysctls) validateSysctls(context.sysctls, spec, path.child('sysctls'), errors)
  oneOf(context.fsGroupChangePolicy, changePolicies, () => path.child('fsGroupChangePolicy'), errors)
  if (context.seccompProfile) validateSeccompProfile(context.seccompProfile, path.child('seccompProfile'), errors)
  if (context.windowsOptions) validateWindowsOptions(context.windowsOptions, path.child('windowsOptions'), errors)
  if (context.appArmorProfile) validateAppArmorProfile(context.appArmorProfile, path.child('appArmorProfile'), errors)
  oneOf(context.supplementalGroupsPolicy, groupsPolicies, () => path.child('supplementalGroupsPolicy'), errors)
  oneOf(context.seLinuxChangePolicy, seLinuxPolicies, () => path.child('seLinuxChangePolicy'), errors)
}
